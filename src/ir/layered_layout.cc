#include "ir/layered_layout.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

namespace wherry {

namespace {

constexpr double kLayerGap = 34;
constexpr double kNodeGap = 22;
constexpr double kLaneWidth = 2;
constexpr size_t kLongestLane = 64;
constexpr size_t kLanePlacesPerNode = 12;
constexpr int kOrderSweeps = 8;
constexpr int kPlaceSweeps = 16;

class Layout {
 public:
  Layout(const std::vector<LayoutSize>& nodes, const std::vector<LayoutEdge>& edges) : edges_(edges), sizes_(nodes) {}

  LayeredLayout Run() {
    result_.routes.resize(edges_.size());
    if (sizes_.empty()) return std::move(result_);
    node_count_ = sizes_.size();
    FindLayers();
    MakeLanes();
    OrderLayers();
    PlaceLayers();
    StraightenLayers();
    return Finish();
  }

 private:
  struct Link {
    size_t other;
    double weight;  // how much it wants to be straight
  };

  static size_t At(int index) { return static_cast<size_t>(index); }
  static bool Down(int sweep) { return sweep % 2 == 0; }

  void FindLayers() {
    layer_.assign(node_count_, 0);
    std::vector<std::vector<size_t>> consumers(node_count_);
    std::vector<size_t> producers(node_count_, 0);
    for (const LayoutEdge& edge : edges_) {
      consumers[At(edge.from)].push_back(At(edge.to));
      ++producers[At(edge.to)];
    }
    for (size_t node = 0; node < node_count_; ++node) {
      for (const size_t to : consumers[node]) layer_[to] = std::max(layer_[to], layer_[node] + 1);
    }
    // What has more readers than arguments goes down to them, as far as it can.
    for (size_t node = node_count_; node-- > 0;) {
      if (consumers[node].empty() || producers[node] >= consumers[node].size() + (producers[node] == 0 ? 1 : 0))
        continue;
      size_t lowest = std::numeric_limits<size_t>::max();
      for (const size_t to : consumers[node]) lowest = std::min(lowest, layer_[to] - 1);
      layer_[node] = lowest;
    }
  }

  // A lane is a chain of thin nodes, one in each layer that the edge crosses.
  void MakeLanes() {
    lanes_.resize(edges_.size());
    const auto span = [this](size_t edge) { return layer_[At(edges_[edge].to)] - layer_[At(edges_[edge].from)]; };
    std::vector<size_t> order(edges_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&span](size_t a, size_t b) { return span(a) < span(b); });
    size_t left = node_count_ * kLanePlacesPerNode;
    for (const size_t edge : order) {
      const size_t places = span(edge) - 1;
      if (places > std::min(left, kLongestLane)) break;
      left -= places;
      for (size_t i = 1; i <= places; ++i) {
        lanes_[edge].push_back(sizes_.size());
        sizes_.push_back({kLaneWidth, 0});
        layer_.push_back(layer_[At(edges_[edge].from)] + i);
      }
    }
    above_.resize(sizes_.size());
    below_.resize(sizes_.size());
    for (size_t edge = 0; edge < edges_.size(); ++edge) {
      size_t from = At(edges_[edge].from);
      for (const size_t lane : lanes_[edge]) {
        Connect(from, lane);
        from = lane;
      }
      const size_t to = At(edges_[edge].to);
      if (layer_[to] == layer_[from] + 1) Connect(from, to);
    }
  }

  void Connect(size_t from, size_t to) {
    const double weight = from >= node_count_ && to >= node_count_   ? 8
                          : from >= node_count_ || to >= node_count_ ? 1
                                                                     : 3;
    below_[from].push_back({to, weight});
    above_[to].push_back({from, weight});
  }

  void OrderLayers() {
    layers_.resize(*std::max_element(layer_.begin(), layer_.end()) + 1);
    for (size_t node = 0; node < sizes_.size(); ++node) layers_[layer_[node]].push_back(node);
    rank_.resize(sizes_.size());
    for (const std::vector<size_t>& layer : layers_) SetRanks(layer);
    std::vector<double> wanted(sizes_.size());
    for (int sweep = 0; sweep < kOrderSweeps; ++sweep) {
      for (size_t i = 0; i < layers_.size(); ++i) {
        std::vector<size_t>& layer = layers_[Down(sweep) ? i : layers_.size() - 1 - i];
        for (const size_t node : layer)
          wanted[node] = MedianRank(Down(sweep) ? above_[node] : below_[node], rank_[node]);
        std::stable_sort(layer.begin(), layer.end(), [&wanted](size_t a, size_t b) { return wanted[a] < wanted[b]; });
        SetRanks(layer);
      }
    }
  }

  // Ranks are shares of a layer's length, so that layers of different lengths compare.
  void SetRanks(const std::vector<size_t>& layer) {
    for (size_t i = 0; i < layer.size(); ++i)
      rank_[layer[i]] = (static_cast<double>(i) + 0.5) / static_cast<double>(layer.size());
  }

  double MedianRank(const std::vector<Link>& links, double otherwise) const {
    if (links.empty()) return otherwise;
    std::vector<double> ranks;
    for (const Link& link : links) ranks.push_back(rank_[link.other]);
    std::sort(ranks.begin(), ranks.end());
    return (ranks[ranks.size() / 2] + ranks[(ranks.size() - 1) / 2]) / 2;
  }

  void PlaceLayers() {
    x_.assign(sizes_.size(), 0);
    for (const std::vector<size_t>& layer : layers_) {
      double width = 0;
      for (size_t i = 0; i < layer.size(); ++i) width += i == 0 ? 0 : Distance(layer[i - 1], layer[i]);
      double x = -width / 2;
      for (size_t i = 0; i < layer.size(); ++i) {
        x += i == 0 ? 0 : Distance(layer[i - 1], layer[i]);
        x_[layer[i]] = x;
      }
    }
    for (int sweep = 0; sweep < kPlaceSweeps; ++sweep) {
      // First from one side only, which carries a place through the whole graph; then from both, which settles it.
      const bool both = sweep >= kPlaceSweeps / 2;
      for (size_t i = 0; i < layers_.size(); ++i) {
        PlaceLayer(layers_[Down(sweep) ? i : layers_.size() - 1 - i], both || Down(sweep), both || !Down(sweep));
      }
    }
  }

  // Shifts layers as wholes, so that what goes on straight most is straight: a chain keeps its place, and what comes
  // and goes beside it makes way.
  void StraightenLayers() {
    double shift = 0;
    for (size_t i = 1; i < layers_.size(); ++i) {
      std::vector<std::pair<double, double>> slants;  // and their weights
      double total = 0;
      for (const size_t node : layers_[i]) {
        for (const Link& link : above_[node]) {
          const double weight = node >= node_count_ || link.other >= node_count_ ? 1 : 3;
          slants.emplace_back(x_[node] - (x_[link.other] - shift), weight);
          total += weight;
        }
      }
      std::sort(slants.begin(), slants.end());
      double seen = 0;
      for (const auto& [slant, weight] : slants) {
        seen += weight;
        if (2 * seen < total) continue;
        shift -= slant;
        break;
      }
      for (const size_t node : layers_[i]) x_[node] += shift;
    }
  }

  double Distance(size_t left, size_t right) const {
    const bool lanes = left >= node_count_ && right >= node_count_;
    return (sizes_[left].width + sizes_[right].width) / 2 + (lanes ? kNodeGap / 2 : kNodeGap);
  }

  // The places with the least sum of weighted squares from the wanted ones that keep order and distances: subtracting
  // the distances leaves an isotonic regression, which pooling neighbours solves in one pass.
  void PlaceLayer(const std::vector<size_t>& layer, bool from_above, bool from_below) {
    struct Pool {
      double weight;
      double sum;
      size_t count;
      double mean() const { return sum / weight; }
    };
    std::vector<Pool> pools;
    std::vector<double> offsets;
    double offset = 0;
    for (size_t i = 0; i < layer.size(); ++i) {
      if (i != 0) offset += Distance(layer[i - 1], layer[i]);
      offsets.push_back(offset);
      double weight = 0;
      double sum = 0;
      const auto add = [&](const std::vector<Link>& links) {
        for (const Link& link : links) {
          weight += link.weight;
          sum += link.weight * x_[link.other];
        }
      };
      if (from_above) add(above_[layer[i]]);
      if (from_below) add(below_[layer[i]]);
      if (weight == 0) {
        weight = 0.1;
        sum = weight * x_[layer[i]];
      }
      pools.push_back({weight, sum - weight * offset, 1});
      while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
        const Pool last = pools.back();
        pools.pop_back();
        pools.back().weight += last.weight;
        pools.back().sum += last.sum;
        pools.back().count += last.count;
      }
    }
    size_t i = 0;
    for (const Pool& pool : pools) {
      for (size_t end = i + pool.count; i < end; ++i) x_[layer[i]] = pool.mean() + offsets[i];
    }
  }

  LayeredLayout Finish() {
    double left = 0;
    double right = 0;
    for (size_t node = 0; node < sizes_.size(); ++node) {
      left = std::min(left, x_[node] - sizes_[node].width / 2);
      right = std::max(right, x_[node] + sizes_[node].width / 2);
    }
    std::vector<double> top;
    std::vector<double> height;
    double y = 0;
    for (const std::vector<size_t>& layer : layers_) {
      double tallest = 0;
      for (const size_t node : layer) tallest = std::max(tallest, sizes_[node].height);
      top.push_back(y);
      height.push_back(tallest);
      y += tallest + kLayerGap;
    }
    result_.size = {right - left, y - kLayerGap};
    for (size_t node = 0; node < node_count_; ++node)
      result_.centres.push_back({x_[node] - left, top[layer_[node]] + height[layer_[node]] / 2});
    for (size_t edge = 0; edge < edges_.size(); ++edge) {
      const size_t from = At(edges_[edge].from);
      const size_t to = At(edges_[edge].to);
      std::vector<LayoutPoint>& route = result_.routes[edge];
      route.push_back({result_.centres[from].x, result_.centres[from].y + sizes_[from].height / 2});
      for (const size_t lane : lanes_[edge]) {
        route.push_back({x_[lane] - left, top[layer_[lane]]});
        route.push_back({x_[lane] - left, top[layer_[lane]] + height[layer_[lane]]});
      }
      route.push_back({result_.centres[to].x, result_.centres[to].y - sizes_[to].height / 2});
    }
    return std::move(result_);
  }

  const std::vector<LayoutEdge>& edges_;
  std::vector<LayoutSize> sizes_;  // nodes, then the places of lanes
  size_t node_count_ = 0;
  std::vector<size_t> layer_;
  std::vector<std::vector<size_t>> lanes_;  // per edge
  std::vector<std::vector<Link>> above_;
  std::vector<std::vector<Link>> below_;
  std::vector<std::vector<size_t>> layers_;
  std::vector<double> rank_;
  std::vector<double> x_;
  LayeredLayout result_;
};

}  // namespace

LayeredLayout LayOut(const std::vector<LayoutSize>& nodes, const std::vector<LayoutEdge>& edges) {
  return Layout(nodes, edges).Run();
}

}  // namespace wherry
