"""Images: sampling, regions, detection."""

import numpy
import paddle
import paddle.nn.functional as F
from corpus_case import bools, case, f32, f64, given, i32, ints, in_pir, old_op

V = paddle.vision.ops


def boxes(*shape, span=20.0, least=2.0):
    """Boxes x1, y1, x2, y2 within 0 to about `span`."""

    def draw(random):
        corners = random.uniform(0, span * 0.7, (*shape, 2))
        return numpy.concatenate([corners, corners + random.uniform(least, span * 0.5, (*shape, 2))], -1).astype("float32")

    return draw


for _mode in ("bilinear", "nearest"):
    for _padding in ("zeros", "border", "reflection"):
        for _corners in (True, False):
            case(f"sample_{_mode}_{_padding}_{'corners' if _corners else 'centers'}", lambda x, g, m=_mode, p=_padding, c=_corners: F.grid_sample(x, g, m, p, c), x=f32(1, 2, 5, 6), g=f32(1, 4, 3, 2, low=-1.3, high=1.3))
case("sample_3d", lambda x, g: F.grid_sample(x, g), x=f32(1, 2, 4, 5, 3), g=f32(1, 2, 3, 4, 3, low=-1.1, high=1.1))
case("affine_grid", lambda t: [F.affine_grid(t, [2, 1, 3, 4]), F.affine_grid(t, [2, 1, 3, 4], False)], t=f32(2, 2, 3))
case("affine_grid_3d", lambda t: F.affine_grid(t, [1, 1, 2, 3, 2]), t=f32(1, 3, 4))
case("affine_grid_tensor", lambda t, s: F.affine_grid(t, s), t=f32(2, 2, 3), s=given([2, 1, 3, 4], "int32"))
case("pixel_shuffle", lambda x: [F.pixel_shuffle(x, 2), F.pixel_unshuffle(F.pixel_shuffle(x, 2), 2)], x=f32(1, 8, 3, 2))
case("channel_shuffle", lambda x: F.channel_shuffle(x, 2), x=f32(1, 6, 3, 2))
case("shuffle_last", lambda x: [F.pixel_shuffle(x, 2, "NHWC"), F.channel_shuffle(x, 4, "NHWC")], x=f32(1, 3, 2, 8))
case("temporal_shift", lambda x: F.temporal_shift(x, 2, 0.25), x=f32(4, 8, 2, 2))
case("unfold", lambda x: [F.unfold(x, [2, 3], 2, [1, 0], 1), F.unfold(x, 2, 1, [1, 0, 0, 1], [1, 2])], x=f32(1, 2, 6, 7))
case("fold", lambda x: F.fold(x, [5, 6], [2, 2], 1, 0), x=f32(1, 8, 20))

for _name, _options in {"plain": dict(output_size=3), "ratio": dict(output_size=(2, 3), sampling_ratio=2, spatial_scale=0.5), "unaligned": dict(output_size=2, aligned=False)}.items():
    case(f"roi_align_{_name}", lambda x, b, n, o=_options: V.roi_align(x, b, n, **o), x=f32(2, 3, 12, 14), b=boxes(4, span=12.0), n=given([1, 3], "int32"))
case("roi_pool", lambda x, b, n: V.roi_pool(x, b, n, (2, 3), 0.5), x=f32(2, 3, 12, 14), b=boxes(4, span=24.0), n=given([1, 3], "int32"))
case("roi_pool_edges", lambda x, b, n: V.roi_pool(x, b, n, 3, 1.0), x=f32(1, 2, 8, 8), b=given([[-5, -5, 2, 2], [6, 6, 30, 30], [3, 3, 3, 3], [5, 5, 2, 2]]), n=given([4], "int32"))
case("roi_psroi", lambda x, b, n: V.psroi_pool(x, b, n, (2, 3), 0.5), x=f32(2, 12, 10, 12), b=boxes(3, span=20.0), n=given([2, 1], "int32"))
case("roi_psroi_edges", lambda x, b, n: V.psroi_pool(x, b, n, 2, 1.0), x=f32(1, 8, 6, 6), b=given([[-5, -5, 2, 2], [4, 4, 30, 30], [3, 3, 3, 3]]), n=given([3], "int32"))
case("deform_v1", lambda x, o, w: V.deform_conv2d(x, o, w, padding=1), x=f32(1, 4, 5, 6), o=f32(1, 18, 5, 6), w=f32(3, 4, 3, 3))
case("deform_v2", lambda x, o, w, b, m: V.deform_conv2d(x, o, w, b, 2, 1, 1, 2, 1, m), x=f32(1, 4, 6, 6), o=f32(1, 36, 3, 3), w=f32(4, 4, 3, 3), b=f32(4), m=f32(1, 18, 3, 3, low=0, high=1))

case("detect_nms", lambda b: V.nms(b, 0.3), b=boxes(8))
case("detect_nms_scores", lambda b, s: V.nms(b, 0.3, s), b=boxes(8), s=f32(8, low=0, high=1))
case("detect_nms_classes", lambda b, s, c: V.nms(b, 0.3, s, c, [0, 1], 4), b=boxes(8), s=f32(8, low=0, high=1), c=ints(8, high=2))
case("detect_matrix_nms", lambda b, s: V.matrix_nms(b, s, 0.1, 0.05, 6, 5, background_label=-1, return_index=True)[:3], b=boxes(2, 8), s=f32(2, 3, 8, low=0, high=1))
case("detect_matrix_nms_gaussian", lambda b, s: V.matrix_nms(b, s, 0.1, 0.05, 6, 5, True, 3.0, 0, False)[::2], b=boxes(2, 8), s=f32(2, 3, 8, low=0, high=1))
case("detect_yolo_box", lambda x, s: V.yolo_box(x, s, [10, 13, 16, 30], 3, 0.3, 32, True, None, 1.1), x=f32(2, 16, 3, 4), s=given([[100, 120], [64, 64]], "int32"))
case("detect_yolo_box_aware", lambda x, s: V.yolo_box(x, s, [10, 13, 16, 30], 3, 0.3, 32, False, None, 1.0, True, 0.4), x=f32(1, 18, 3, 4), s=given([[100, 120]], "int32"))
case("detect_prior_box", lambda x, i: V.prior_box(x, i, [4.0], [8.0], [1.0, 2.0], flip=True, clip=True, steps=[5.0, 6.0]), x=f32(1, 2, 3, 4), i=f32(1, 3, 24, 32))
case("detect_prior_box_order", lambda x, i: V.prior_box(x, i, [4.0, 6.0], [8.0, 9.0], [2.0, 3.0], min_max_aspect_ratios_order=True), x=f32(1, 2, 3, 4), i=f32(1, 3, 24, 32))
case("detect_box_encode", lambda p, v, t: V.box_coder(p, v, t), p=boxes(5), v=f32(5, 4, low=0.1, high=0.3), t=boxes(3))
case("detect_box_decode", lambda p, t: V.box_coder(p, [0.1, 0.1, 0.2, 0.2], t, "decode_center_size", False, axis=1), p=boxes(3), t=f32(3, 5, 4))
for _name, _options in {"plain": {}, "offset": dict(pixel_offset=True)}.items():
    case(f"detect_proposals_{_name}", lambda s, d, z, a, v, o=_options: V.generate_proposals(s, d, z, a, v, 30, 8, 0.5, 1.0, return_rois_num=True, **o),
         s=f32(2, 3, 4, 5, low=0, high=1), d=f32(2, 12, 4, 5, low=-0.5, high=0.5), z=given([[40, 50], [36, 44]]), a=boxes(4, 5, 3, span=40.0), v=f32(4, 5, 3, 4, low=0.5, high=1))
case("detect_proposals_eta", lambda s, d, z, a, v: V.generate_proposals(s, d, z, a, v, 60, 20, 0.8, 3.0, 0.9, return_rois_num=True),
     s=f32(1, 3, 4, 5, low=0, high=1), d=f32(1, 12, 4, 5, low=-0.5, high=4.5), z=given([[40, 50]]), a=boxes(4, 5, 3, span=40.0), v=f32(4, 5, 3, 4, low=0.5, high=1))


def distributed(b, n=None, offset=False):
    levels, restore, counts = V.distribute_fpn_proposals(b, 2, 5, 4, 56, offset, n)
    return [*levels, restore, *(counts or [])]


def sized_boxes(count):
    def draw(random):
        size = 2.0 ** random.uniform(3, 9, (count, 1)) * random.uniform(0.8, 1.2, (count, 2))
        corner = random.uniform(0, 20, (count, 2))
        return numpy.concatenate([corner, corner + size], -1).astype("float32")

    return draw


case("detect_distribute", distributed, b=sized_boxes(9), forms=["paddle"])
case("detect_distribute_counts", lambda b, n: distributed(b, n), b=sized_boxes(9), n=given([4, 5], "int32"))
case("detect_distribute_offset", lambda b, n: distributed(b, n, True), b=sized_boxes(9), n=given([9], "int32"))


def collect_old(a, b, p, q, m, n):
    outputs = {"FpnRois": ["float32"], "RoisNum": ["int32"]}
    return old_op("collect_fpn_proposals", {"MultiLevelRois": [a, b], "MultiLevelScores": [p, q], "MultiLevelRoIsNum": [m, n]}, outputs, {"post_nms_topN": 5})


def collect(a, b, p, q, m, n):
    if in_pir():
        return paddle._C_ops.collect_fpn_proposals([a, b], [p, q], [m, n], 5)
    return collect_old(a, b, p, q, m, n)


case("detect_collect", collect, a=boxes(4), b=boxes(3), p=f32(4, 1, low=0, high=1), q=f32(3, 1, low=0, high=1), m=given([2, 2], "int32"), n=given([1, 2], "int32"))


def match(d, kind, threshold):
    if in_pir():
        return paddle._C_ops.bipartite_match(d, kind, threshold)
    return old_op("bipartite_match", {"DistMat": d}, {"ColToRowMatchIndices": ["int32"], "ColToRowMatchDist": ["float32"]}, {"match_type": kind, "dist_threshold": threshold})


case("detect_match", lambda d: match(d, "bipartite", 0.5), d=f32(4, 6, low=0, high=1))
case("detect_match_per_prediction", lambda d: match(d, "per_prediction", 0.4), d=f32(3, 8, low=0, high=1))


def multiclass(b, s, n=None, **options):
    options = dict(score_threshold=0.1, nms_top_k=6, keep_top_k=5, nms_threshold=0.3, normalized=True, nms_eta=1.0, background_label=-1) | options
    if in_pir():
        o = options
        return paddle._C_ops.multiclass_nms3(b, s, n, o["score_threshold"], o["nms_top_k"], o["keep_top_k"], o["nms_threshold"], o["normalized"], o["nms_eta"], o["background_label"])
    inputs = {"BBoxes": b, "Scores": s} | ({} if n is None else {"RoisNum": n})
    return old_op("multiclass_nms3", inputs, {"Out": ["float32"], "Index": ["int32"], "NmsRoisNum": ["int32"]}, options)


case("detect_multiclass", multiclass, b=boxes(2, 8), s=f32(2, 3, 8, low=0, high=1))
case("detect_multiclass_pixels", lambda b, s: multiclass(b, s, normalized=False, background_label=0, nms_eta=0.9, nms_threshold=0.7), b=boxes(2, 8), s=f32(2, 3, 8, low=0, high=1))
for _name, _options in {"all": dict(keep_top_k=-1), "best": dict(keep_top_k=3, background_label=0, nms_top_k=4)}.items():
    case(f"detect_multiclass_rows_{_name}", lambda b, s, n, o=_options: multiclass(b, s, n, **o), b=boxes(7, 3), s=f32(7, 3, low=0, high=1), n=given([3, 0, 4], "int32"))
case("detect_multiclass_nothing", lambda b, s: multiclass(b, s, score_threshold=2.0), b=boxes(1, 8), s=f32(1, 3, 8, low=0, high=1))


def clip_boxes(b, i):
    if in_pir():
        return paddle._C_ops.box_clip(b, i)
    return old_op("box_clip", {"Input": b, "ImInfo": i}, {"Output": ["float32"]})


case("detect_box_clip", clip_boxes, b=boxes(5), i=given([[12, 10, 1.0]]))


def anchors(x):
    sizes, ratios, variances, stride = [16.0, 32.0], [0.5, 1.0, 2.0], [0.1, 0.1, 0.2, 0.2], [8.0, 8.0]
    return old_op("anchor_generator", {"Input": x}, {"Anchors": ["float32"], "Variances": ["float32"]}, dict(anchor_sizes=sizes, aspect_ratios=ratios, variances=variances, stride=stride, offset=0.5))


case("detect_anchors", anchors, x=f32(1, 2, 3, 4), forms=["paddle"])
