// The images that regions of interest lie in, for the kernels that pool them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/check.h"
#include "core/dense_tensor.h"
#include "kernels/ref/floats.h"

namespace wherry::ref {

// The image of each of `count` regions, of `batch`: given by batch_index, or rois_num has how many lie in each image,
// in order; without both it is the first. Either may be null.
inline std::vector<int64_t> ImagesOf(int64_t count, int64_t batch, const DenseTensor* batch_index,
                                     const DenseTensor* rois_num) {
  std::vector<int64_t> images(static_cast<size_t>(count), 0);
  if (batch_index != nullptr) {
    images = IntsOf(*batch_index);
  } else if (rois_num != nullptr) {
    const std::vector<int64_t> numbers = IntsOf(*rois_num);
    images.clear();
    for (size_t n = 0; n < numbers.size(); ++n) {
      WHERRY_ENFORCE(numbers[n] >= 0 && numbers[n] <= count - static_cast<int64_t>(images.size()), kInvalidArgument,
                     "rois_num gives image ", n, " ", numbers[n], " regions of ", count);
      images.resize(images.size() + static_cast<size_t>(numbers[n]), static_cast<int64_t>(n));
    }
  }
  WHERRY_ENFORCE(static_cast<int64_t>(images.size()) == count, kInvalidArgument, "there are images for ", images.size(),
                 " regions, expected ", count);
  for (const int64_t image : images) {
    WHERRY_ENFORCE(image >= 0 && image < batch, kInvalidArgument, "a region lies in image ", image, " of ", batch);
  }
  return images;
}

}  // namespace wherry::ref
