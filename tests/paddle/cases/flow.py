"""Control flow, tensor arrays, constants from graphs, whole small networks."""

import paddle
import paddle.nn.functional as F
from corpus_case import bools, case, f32, f64, given, i32, ints

nn = paddle.nn
static = paddle.static


def branch(x, c):
    return static.nn.cond(c, lambda: x * 2, lambda: x - 1)


def branch_pair(x):
    return static.nn.cond(paddle.sum(x) > 0, lambda: (x + 1, x * x), lambda: (x - 1, -x))


def branch_nested(x):
    return static.nn.cond(paddle.max(x) > 1, lambda: static.nn.cond(paddle.min(x) < 0, lambda: x * 3, lambda: x * 5), lambda: x / 2)


def count_up(x):
    i = paddle.zeros([1], "int64")
    n = paddle.full([1], 4, "int64")
    return static.nn.while_loop(lambda i, x: paddle.less_than(i, n).squeeze(), lambda i, x: [i + 1, x * 1.5 + paddle.cast(i, "float32")], [i, x])


def growing_dims(x):
    i = paddle.zeros([1], "int64")

    def body(i, x):
        return [i + 1, paddle.concat([x, x[:1] * 2], 0)]

    return static.nn.while_loop(lambda i, x: (i < 3).squeeze(), body, [i, x])[1]


def arrays(x):
    array = paddle.tensor.create_array("float32")
    zero, one = paddle.zeros([1], "int64"), paddle.ones([1], "int64")
    paddle.tensor.array_write(x, zero, array)
    paddle.tensor.array_write(x * 2, one, array)
    return [paddle.tensor.array_read(array, one), paddle.tensor.array_length(array)]


def array_joined(x):
    array = paddle.tensor.create_array("float32")
    for i in range(3):
        paddle.tensor.array_write(x * (i + 1), paddle.full([1], i, "int64"), array)
    return [paddle.tensor.manipulation.tensor_array_to_tensor(array, axis=1)[0], paddle.tensor.manipulation.tensor_array_to_tensor(array, axis=0, use_stack=True)[0]]


def array_of_loop(x):
    array = paddle.tensor.create_array("float32")
    i = paddle.zeros([1], "int64")
    paddle.tensor.array_write(x, i, array)

    def body(i, x, array):
        y = x + 1
        i = i + 1
        paddle.tensor.array_write(y, i, array)
        return [i, y, array]

    i, x, array = static.nn.while_loop(lambda i, x, array: (i < 3).squeeze(), body, [i, x, array])
    return paddle.tensor.array_read(array, paddle.full([1], 2, "int64"))


def array_popped(x):
    array = paddle.tensor.create_array("float32")
    for i in range(3):
        paddle.tensor.array_write(x * (i + 1), paddle.full([1], i, "int64"), array)
    return [paddle._C_ops.array_pop(array, -1), paddle._C_ops.array_pop(array, 0), paddle.tensor.array_length(array)]


def array_sliced(x):
    array = paddle.tensor.create_array("float32")
    for i in range(4):
        paddle.tensor.array_write(x * (i + 1), paddle.full([1], i, "int64"), array)
    part = paddle._C_ops.slice_array(array, [1], [3])
    return [paddle.tensor.array_length(part), paddle.tensor.manipulation.tensor_array_to_tensor(part, axis=0)[0], paddle._C_ops.slice_array_dense(array, [2])]


case("flow_cond", branch, x=f32(2, 3), c=given([True], "bool"))
case("flow_cond_pair", branch_pair, x=f32(2, 3))
case("flow_cond_nested", branch_nested, x=f32(2, 3))
case("flow_case", lambda x: static.nn.case([(x.sum() > 5, lambda: x), (x.sum() > -100, lambda: x * 2)], lambda: x * 3), x=f32(2, 3))
case("flow_switch", lambda x, i: static.nn.switch_case(i, {1: lambda: x, 3: lambda: x * 2}, lambda: x * 3), x=f32(2, 3), i=given([3], "int32"))
case("flow_while", count_up, x=f32(2, 3))
case("flow_while_growing", growing_dims, x=f32(2, 3), dims={"x": [-1, 3]})
case("flow_array", arrays, x=f32(2, 3))
case("flow_array_joined", array_joined, x=f32(2, 3))
case("flow_array_loop", array_of_loop, x=f32(2, 3))
case("flow_array_popped", array_popped, x=f32(2, 3), forms=["pir"])
case("flow_array_sliced", array_sliced, x=f32(2, 3), forms=["pir"])
case("flow_output_twice", lambda x: [x + 1, (x + 1) * 2, x], x=f32(2, 3))


def conv_norm(channels, outputs, kernel, **options):
    norm = nn.BatchNorm2D(outputs)
    norm.eval()
    return nn.Sequential(nn.Conv2D(channels, outputs, kernel, bias_attr=False, **options), norm)


def mobile_block(x):
    y = F.hardswish(conv_norm(4, 8, 1)(x))
    y = F.relu(conv_norm(8, 8, 3, stride=2, padding=1, groups=8)(y))
    z = F.hardsigmoid(nn.Conv2D(2, 8, 1)(F.relu(nn.Conv2D(8, 2, 1)(F.adaptive_avg_pool2d(y, 1)))))
    return conv_norm(8, 6, 1)(y * z)


def residual_block(x):
    y = F.relu(conv_norm(4, 4, 3, padding=1)(x))
    return F.relu(conv_norm(4, 4, 3, padding=1)(y) + x)


def inception_block(x):
    parts = [nn.Conv2D(4, 2, 1)(x), nn.Conv2D(2, 3, 3, padding=1)(F.relu(nn.Conv2D(4, 2, 1)(x))), nn.Conv2D(4, 2, 5, padding=2)(x), nn.Conv2D(4, 2, 1)(F.max_pool2d(x, 3, 1, 1))]
    return F.relu(paddle.concat(parts, 1))


def recogniser(x):
    y = F.relu(nn.Conv2D(3, 4, 3, stride=[2, 1], padding=1)(x))
    y = paddle.mean(y, 2)
    y = nn.LSTM(4, 5, direction="bidirect")(paddle.transpose(y, [0, 2, 1]))[0]
    return F.softmax(nn.Linear(10, 7)(y))


def text_encoder(ids):
    y = nn.Embedding(11, 8)(ids) + nn.Embedding(16, 8)(paddle.cumsum(paddle.ones_like(ids), -1) - 1)
    mask = paddle.unsqueeze((ids == 0).astype("float32") * -1e4, [1, 2])
    y = nn.TransformerEncoderLayer(8, 2, 16, 0.0, "gelu")(nn.LayerNorm(8)(y), mask)
    return [y, F.tanh(nn.Linear(8, 8)(y[:, 0]))]


case("network_mobile", mobile_block, x=f32(1, 4, 6, 6), dims={"x": [-1, 4, -1, -1]})
case("network_residual", residual_block, x=f32(1, 4, 6, 6), dims={"x": [-1, 4, -1, -1]})
case("network_inception", inception_block, x=f32(1, 4, 6, 6))
case("network_recogniser", recogniser, x=f32(2, 3, 8, 10), dims={"x": [-1, 3, 8, -1]})
case("network_encoder", text_encoder, ids=ints(2, 6, high=11), dims={"ids": [-1, -1]})
