#include "importer/einsum.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/strings.h"

namespace wherry {

namespace {

// A letter, or -k for the k-th dimension from the end of an ellipsis.
using Label = int;
using Labels = std::vector<Label>;

bool Has(const Labels& labels, Label label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }
size_t PlaceOf(const Labels& labels, Label label) {
  return static_cast<size_t>(std::find(labels.begin(), labels.end(), label) - labels.begin());
}

struct Term {
  std::string value;
  Labels labels;  // of its axes, all different
};

class Lowering {
 public:
  Lowering(ConvertContext* context, const std::string& equation) : c_(*context), equation_(equation) {}

  std::string Run(const std::vector<std::string>& operands) {
    std::string text = equation_;
    std::erase(text, ' ');
    const size_t arrow = text.find("->");
    const std::vector<std::string> terms = Split(text.substr(0, arrow), ',');
    if (operands.empty() || terms.size() != operands.size()) {
      c_.Corrupt("equation ", Quote(equation_), " has ", terms.size(), " terms for ", operands.size(), " operands");
    }
    std::map<Label, int> uses;
    std::vector<Term> parsed;
    int ellipsis = 0;
    for (size_t i = 0; i < terms.size(); ++i) {
      Labels labels = Parse(terms[i], c_.Rank(operands[i]));
      for (const Label label : labels) {
        ++uses[label];
        ellipsis = std::max(ellipsis, -label);
      }
      parsed.push_back(WithoutRepeats({operands[i], std::move(labels)}));
    }
    Labels result;
    if (arrow != std::string::npos) {
      const std::string out = text.substr(arrow + 2);
      const bool has_ellipsis = out.find("...") != std::string::npos;
      const size_t letters = out.size() - (has_ellipsis ? 3 : 0);
      result = Parse(out, static_cast<int>(letters) + (has_ellipsis ? ellipsis : 0));
    } else {
      for (int k = ellipsis; k > 0; --k) result.push_back(-k);
      for (const auto& [label, count] : uses) {
        if (label > 0 && count == 1) result.push_back(label);
      }
    }
    for (size_t i = 0; i < result.size(); ++i) {
      if (uses.count(result[i]) == 0 || PlaceOf(result, result[i]) != i) {
        c_.Corrupt("equation ", Quote(equation_), " has a result that its terms do not give");
      }
    }
    return Contract(std::move(parsed), result);
  }

 private:
  static std::vector<std::string> Split(const std::string& text, char at) {
    std::vector<std::string> parts(1);
    for (const char letter : text) {
      if (letter == at) {
        parts.emplace_back();
      } else {
        parts.back() += letter;
      }
    }
    return parts;
  }

  Labels Parse(const std::string& term, int rank) const {
    const size_t dots = term.find("...");
    const std::string letters = dots == std::string::npos ? term : term.substr(0, dots) + term.substr(dots + 3);
    const int rest = rank - static_cast<int>(letters.size());
    if (rest < 0 || (rest > 0 && dots == std::string::npos)) {
      c_.Corrupt("term ", Quote(term), " of equation ", Quote(equation_), " stands for an operand of rank ", rank);
    }
    Labels labels;
    for (size_t i = 0; i <= letters.size(); ++i) {
      if (i == dots) {
        for (int k = rest; k > 0; --k) labels.push_back(-k);
      }
      if (i == letters.size()) break;
      const char letter = letters[i];
      if (!((letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z'))) {
        c_.Corrupt("equation ", Quote(equation_), " has ", Quote(std::string(1, letter)));
      }
      labels.push_back(letter);
    }
    return labels;
  }

  // A label that two axes have is the diagonal of both.
  Term WithoutRepeats(Term term) {
    for (size_t i = 0; i < term.labels.size(); ++i) {
      for (size_t j = i + 1; j < term.labels.size(); ++j) {
        if (term.labels[i] != term.labels[j]) continue;
        const Label label = term.labels[i];
        term.value = c_.Emit("diagonal", {{"x", {term.value}}},
                             {{"axis1", static_cast<int64_t>(i)}, {"axis2", static_cast<int64_t>(j)}});
        term.labels.erase(term.labels.begin() + static_cast<std::ptrdiff_t>(j));
        term.labels.erase(term.labels.begin() + static_cast<std::ptrdiff_t>(i));
        term.labels.push_back(label);
        return WithoutRepeats(std::move(term));
      }
    }
    return term;
  }

  std::string Contract(std::vector<Term> terms, const Labels& result) {
    Term all = std::move(terms[0]);
    for (size_t i = 1; i < terms.size(); ++i) {
      Labels needed = result;
      for (size_t later = i + 1; later < terms.size(); ++later) {
        needed.insert(needed.end(), terms[later].labels.begin(), terms[later].labels.end());
      }
      all = Multiply(std::move(all), std::move(terms[i]), needed);
    }
    return Ordered(Summed(std::move(all), result, {}), result).value;
  }

  // Without the axes that neither `needed` nor `other` has.
  Term Summed(Term term, const Labels& needed, const Labels& other) {
    Labels kept;
    std::vector<int64_t> axes;
    for (size_t i = 0; i < term.labels.size(); ++i) {
      if (Has(needed, term.labels[i]) || Has(other, term.labels[i])) {
        kept.push_back(term.labels[i]);
      } else {
        axes.push_back(static_cast<int64_t>(i));
      }
    }
    if (axes.empty()) return term;
    return {c_.Emit("sum", {{"x", {term.value}}}, {{"axis", IntArray(axes)}}), kept};
  }

  Term Ordered(Term term, const Labels& order) {
    if (term.labels == order) return term;
    std::vector<int64_t> perm;
    for (const Label label : order) perm.push_back(static_cast<int64_t>(PlaceOf(term.labels, label)));
    return {c_.Emit("transpose", {{"x", {term.value}}}, {{"perm", perm}}), order};
  }

  static Labels Joined(const Labels& a, const Labels& b, const Labels& c = {}) {
    Labels all = a;
    all.insert(all.end(), b.begin(), b.end());
    all.insert(all.end(), c.begin(), c.end());
    return all;
  }

  bool IsOne(const Term& term, Label label) const {
    return c_.Meta(term.value).dims[PlaceOf(term.labels, label)] == Dim(1);
  }

  Term Multiply(Term x, Term y, const Labels& needed) {
    // A 1 that meets another size is a factor of all its terms, which are summed first.
    Labels shared;
    for (const Label label : x.labels) {
      if (Has(y.labels, label) && IsOne(x, label) == IsOne(y, label)) shared.push_back(label);
    }
    x = Summed(std::move(x), needed, shared);
    y = Summed(std::move(y), needed, shared);
    Labels batch;
    Labels summed;
    Labels left;
    Labels right;
    for (const Label label : x.labels) {
      Labels& group = !Has(y.labels, label) ? left : Has(needed, label) ? batch : summed;
      group.push_back(label);
    }
    for (const Label label : y.labels) {
      if (!Has(x.labels, label)) right.push_back(label);
    }
    const auto result = Joined(batch, left, right);
    if (summed.empty()) {
      x = Ordered(std::move(x), Joined(batch, left));
      y = Ordered(std::move(y), Joined(batch, right));
      const std::string a = Unsqueezed(x.value, batch.size() + left.size(), right.size());
      const std::string b = Unsqueezed(y.value, batch.size(), left.size());
      return {c_.Emit("multiply", {{"x", {a}}, {"y", {b}}}), result};
    }
    x = Ordered(std::move(x), Joined(batch, left, summed));
    y = Ordered(std::move(y), Joined(batch, summed, right));
    const std::string a = Merged(Merged(x.value, batch.size() + left.size(), summed.size()), batch.size(), left.size());
    const std::string b =
        Merged(Merged(y.value, batch.size() + summed.size(), right.size()), batch.size(), summed.size());
    const std::string product = c_.Emit("matmul", {{"x", {a}}, {"y", {b}}});
    return {Split(product, batch.size(), x.value, left.size(), y.value, right.size()), result};
  }

  // `count` new axes of 1 from `at` on.
  std::string Unsqueezed(const std::string& x, size_t at, size_t count) {
    if (count == 0) return x;
    std::vector<int64_t> axes;
    for (size_t i = 0; i < count; ++i) axes.push_back(static_cast<int64_t>(at + i));
    return c_.Emit("unsqueeze", {{"x", {x}}}, {{"axis", IntArray(axes)}});
  }

  // `count` axes from `at` on as one.
  std::string Merged(const std::string& x, size_t at, size_t count) {
    if (count == 0) return Unsqueezed(x, at, 1);
    if (count == 1) return x;
    const auto first = static_cast<int64_t>(at);
    return c_.Emit("flatten", {{"x", {x}}},
                   {{"start_axis", first}, {"stop_axis", first + static_cast<int64_t>(count) - 1}});
  }

  std::string Dimensions(const std::string& x, size_t from, size_t count) {
    return c_.Emit("slice", {{"x", {c_.Emit("shape", {{"x", {x}}})}}},
                   {{"axes", std::vector<int64_t>{0}},
                    {"starts", IntArray({static_cast<int64_t>(from)})},
                    {"ends", IntArray({static_cast<int64_t>(from + count)})}});
  }

  // The last two axes of a product as the axes that x has behind the batch and those that y has at its end.
  std::string Split(const std::string& product, size_t batch, const std::string& x, size_t left, const std::string& y,
                    size_t right) {
    if (left == 1 && right == 1) return product;
    std::vector<std::string> dims;
    if (batch > 0) dims.push_back(Dimensions(product, 0, batch));
    if (left > 0) dims.push_back(Dimensions(x, batch, left));
    if (right > 0) dims.push_back(Dimensions(y, static_cast<size_t>(c_.Rank(y)) - right, right));
    if (dims.empty()) {
      return c_.Emit("reshape", {{"x", {product}}}, {{"shape", IntArray(std::vector<int64_t>{})}});
    }
    const std::string shape = dims.size() == 1 ? dims[0] : c_.Emit("concat", {{"x", dims}}, {{"axis", int64_t{0}}});
    return c_.Emit("reshape", {{"x", {product}}, {"shape", {shape}}}, {{"allow_zero", true}});
  }

  ConvertContext& c_;
  std::string equation_;
};

}  // namespace

std::string LowerEinsum(ConvertContext* context, const std::string& equation,
                        const std::vector<std::string>& operands) {
  return Lowering(context, equation).Run(operands);
}

}  // namespace wherry
