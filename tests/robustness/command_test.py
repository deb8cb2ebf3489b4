"""The wherry command with damaged models, wrong inputs and options that make no sense.

Every refusal is one line on standard error that begins with "wherry: " and exit status 1 (usage: 2), within seconds and
with little memory; nothing half-written stays behind. The model is a small ONNX file that is made here.

usage: command_test.py WHERRY [--sanitized]
"""

import json
import os
import random
import re
import resource
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

WHERRY = ''
SANITIZED = False


def varint(value):
    out = b''
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def data(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def value_info(name, dims):
    shape = b''.join(data(1, data(2, d) if isinstance(d, str) else number(1, d)) for d in dims)
    return data(1, name) + data(2, data(1, number(1, 1) + data(2, shape)))


def onnx_model(result='y', rows=4, weights=None):
    """y = relu(x [N,rows] * w [rows,3])"""
    if weights is None:
        weights = data(9, struct.pack(f'<{rows * 3}f', *range(rows * 3)))
    tensor = number(1, rows) + number(1, 3) + number(2, 1) + data(8, 'w') + weights
    multiply = data(1, 'x') + data(1, 'w') + data(2, 'm') + data(4, 'MatMul')
    relu = data(1, 'm') + data(2, result) + data(4, 'Relu')
    graph = (data(1, multiply) + data(1, relu) + data(2, 'g') + data(5, tensor) +
             data(11, value_info('x', ['N', rows])) + data(12, value_info(result, ['N', 3])))
    return number(1, 8) + data(7, graph) + data(8, number(2, 13))


def npy(shape='(1, 4)', descr='<f4', content=struct.pack('<4f', 1, 2, 3, 4), order='False'):
    header = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}".encode()
    return b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header + content


def limit():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if not SANITIZED:
        # Not the address space, of which many threads reserve much that they never use.
        resource.setrlimit(resource.RLIMIT_DATA, (4 << 30, 4 << 30))


class CommandTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.model = self.write('model.onnx', onnx_model())

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, content):
        with open(self.path(name), 'wb') as file:
            file.write(content)
        return self.path(name)

    def npz(self, *entries):
        with zipfile.ZipFile(self.path('in.npz'), 'w') as archive:
            for name, content in entries:
                archive.writestr(name, content)
        return self.path('in.npz')

    def run_wherry(self, *arguments):
        done = subprocess.run([WHERRY, *arguments], capture_output=True, timeout=120, preexec_fn=limit, check=False)
        error = done.stderr.decode('utf-8', 'backslashreplace')
        if SANITIZED:  # the sanitizer speaks of every allocation that it refuses
            error = re.sub(r'==\d+==WARNING: AddressSanitizer failed to allocate.*\n', '', error)
        if done.returncode == 1:
            self.assertRegex(error, r'\Awherry: [^\x00-\x1f\x7f]+\n\Z', arguments)
            self.assertLess(len(error), 4000)
            self.assertNotIn('bug in Wherry', error)
            self.assertNotIn('unexpected failure', error)
        else:
            self.assertIn(done.returncode, (0, 2), (arguments, error))
        return done.returncode, error, done.stdout

    def refused(self, *arguments, says=''):
        code, error, _ = self.run_wherry(*arguments)
        self.assertEqual(code, 1, (arguments, error))
        self.assertIn(says, error)

    def test_the_model_runs(self):
        code, error, out = self.run_wherry('run', self.model, '--inputs', self.npz(('x.npy', npy())))
        self.assertEqual(code, 0, error)
        self.assertIn(b'y: f32[1,3] = 60.0, 70.0, 80.0', out)

    def test_damaged_models(self):
        whole = onnx_model()
        for size in range(0, len(whole), 12):
            self.run_wherry('run', self.write('m.onnx', whole[:size]))
        for seed in range(30):
            choice = random.Random(seed)
            damaged = bytearray(whole)
            for _ in range(choice.randrange(1, 4)):
                damaged[choice.randrange(len(damaged))] = choice.randrange(256)
            self.run_wherry('run', self.write('m.onnx', damaged))
        self.refused('run', self.write('m.onnx', b''), says='m.onnx')
        self.refused('run', self.write('m.onnx', b'\xff' * 300))
        self.refused('run', self.write('m.json', b'[' * 100000))

    def test_damaged_optimised_models(self):
        wry = self.path('m.wry')
        self.assertEqual(self.run_wherry('opt', self.model, '-o', wry)[0], 0)
        with open(wry, 'rb') as file:
            whole = file.read()
        for size in (8, 100, 128, len(whole) // 2, len(whole) - 1):
            self.refused('run', self.write('d.wry', whole[:size]))
        for at in (0, 8, 12, 17, 41, 64, 70, 90, 140):
            damaged = bytearray(whole)
            damaged[at] ^= 0x10
            self.refused('run', self.write('d.wry', damaged))
        self.refused('run', self.write('d.wry', whole + b'\0'))

    def test_what_is_no_model(self):
        self.refused('run', self.folder.name + '/nothing', says='nothing')
        self.refused('show', self.folder.name + '/nothing', '--check', says='not found')
        self.refused('run', '/dev/null')
        self.refused('run', 'a' * 5000)
        self.refused('run', 'a\x01\x1b\nb')
        self.refused('run', self.npz(('x.npy', npy())), says='no model')
        os.mkdir(self.path('empty'))
        self.refused('run', self.path('empty'), says='no model in the folder')
        os.mkfifo(self.path('pipe'))
        self.refused('run', self.path('pipe'))

    def test_inputs_that_do_not_fit(self):
        def inputs(*entries, says=''):
            self.refused('run', self.model, '--inputs', self.npz(*entries), says=says)

        inputs(('z.npy', npy()), says="'z'")
        inputs(('x.npy', npy()), ('z.npy', npy()), says="'z'")
        inputs(('x.npy', npy()), ('x', npy()), says='twice')
        inputs(('a\x01\x1b.npy', npy()))
        inputs(('x.npy', npy(shape='(4,)')), says='f32[4]')
        inputs(('x.npy', npy(shape='(4, 1)')), says='f32[4,1]')
        inputs(('x.npy', npy(descr='<i4')), says='i32')
        inputs(('x.npy', npy(descr='>f4')), says='>f4')
        inputs(('x.npy', npy(descr='|O')), says='|O')
        inputs(('x.npy', npy(shape='(1, 5)')), says='bytes of data')
        inputs(('x.npy', npy(content=b'1234567')), says='bytes of data')
        for shape in ('(', '4', '', '(a,)', '(-1, 4)', '(99999999999999999999,)', '(4611686018427387904, 4)',
                      '(9223372036854775807, 9223372036854775807)', '(' + '1,' * 40 + ')'):
            inputs(('x.npy', npy(shape=shape)))
        inputs(('x.npy', b''))
        inputs(('x.npy', b'\x93NUMPY\x01\x00\xff\xff'))
        with open(self.npz(('x.npy', npy())), 'rb') as file:
            whole = file.read()
        for size in (0, 1, 30, len(whole) // 2, len(whole) - 1):
            self.refused('run', self.model, '--inputs', self.write('cut.npz', whole[:size]))
        damaged = bytearray(whole)
        damaged[whole.find(struct.pack('<f', 3))] ^= 1
        self.refused('run', self.model, '--inputs', self.write('cut.npz', damaged))

    def test_options(self):
        run = ('run', self.model)
        for shape in ('', 'x', 'x:', ':1x4', 'x:1xa', 'x:-1x4', 'x:1x', 'x:1x5', 'z:1x4', 'x:99999999999999999999x4',
                      'x:9223372036854775807x4', 'x:100000000000x4', 'x:' + 'x'.join('1' * 40)):
            self.refused(*run, '--shape', shape)
        self.assertEqual(self.run_wherry(*run, '--shape', 'x:0x4')[0], 0)
        self.refused(*run, '--passes', 'fc_fuse_pas', says='fc_fuse_pass')
        self.refused(*run, '--passes', 'fc_fuse', says="did you mean 'fc_fuse_pass'")
        self.refused(*run, '--passes', '', says='--passes')
        self.refused(*run, '--places', '', says='--places')
        self.refused(*run, '--places', 'x87', says='x86')
        self.refused(*run, '--places', 'custom', says='no provider')
        self.refused('opt', self.model, '-o', self.model, says='the model itself')
        code, error, _ = self.run_wherry('frob', self.model)
        self.assertEqual((code, 'frob' in error), (2, True), error)
        self.refused('opt', self.model, '-o', self.path('o.wry'), '--stop-after', 'nonsense', says='nonsense')
        code, error, _ = self.run_wherry(*run, '--input', 'x')
        self.assertEqual((code, '--inputs' in error), (2, True), error)
        self.refused('opt', self.model, '-o', self.path('o.onnx'), says='.wry')
        for threads in ('-1', 'x', '1000000'):
            self.assertEqual(self.run_wherry(*run, '--threads', threads)[0], 2)
        inputs = self.npz(('x.npy', npy()))
        self.assertEqual(self.run_wherry(*run, '--inputs', inputs, '--shape', 'x:1x4')[0], 2)

    def test_fixed_shapes(self):
        stored = self.path('fixed.wry')
        self.assertEqual(self.run_wherry('opt', self.model, '-o', stored, '--fix-shapes', '--shape', 'x:3x4')[0], 0)
        self.assertEqual(self.run_wherry('run', stored)[0], 0)
        self.refused('run', stored, '--shape', 'x:2x4', says='[2,4]')
        self.refused('run', stored, '--fix-shapes', '--shape', 'x:3x4', says='optimised already')
        self.refused('run', self.model, '--fix-shapes', says='--shape')
        self.refused('run', self.model, '--fix-shapes', '--shape', 'x:3x5', says='4 is not 5')

    def test_options_that_mean_nothing(self):
        model = self.model
        for arguments in (('verify', model, '--tolerance', '-1'), ('verify', model, '--tolerance', 'nan'),
                          ('bench', model, '--seconds', 'nan'), ('show', model, '--check', '--format', 'json')):
            self.assertEqual(self.run_wherry(*arguments)[0], 2, arguments)
        for option in ('--outputs', '--profile', '--dump-tensors'):
            self.refused('run', model, option, '', says=option)
        self.refused('run', model, '--params', self.path('p'), says='no parameter file')
        self.refused('run', model, '--shape', 'x:1x4', '--shape', 'x:2x4', says='twice')
        self.refused('run', model, '--dump-tensors', '/dev/null/x', says='/dev/null/x')
        self.refused('run', model, '--shape', 'x:1000000000000x4', says="'x'")
        _, _, places = self.run_wherry('list', 'places', '--json')
        for place in json.loads(places):
            self.assertEqual(self.run_wherry('run', model, '--places', place['target'])[0], 0 if place['available'] else 1)

    def test_outputs_that_cannot_be_written(self):
        os.mkdir(self.path('a_folder'))
        before = sorted(os.listdir(self.folder.name))
        for place in (self.path('a_folder'), self.path('missing/file'), '/dev/null/file'):
            self.refused('run', self.model, '--outputs', place)
            self.refused('run', self.model, '--profile', place)
            self.refused('opt', self.model, '-o', place)
        self.refused('opt', self.model, '-o', '')
        self.refused('opt', self.model, '-o', self.path('a_folder'), '--dump', self.model)
        self.assertEqual(sorted(os.listdir(self.folder.name)), before)

    def test_no_output_replaces_the_model_or_another_output(self):
        model = self.model
        os.link(model, self.path('hard.onnx'))
        os.symlink('model.onnx', self.path('soft.onnx'))
        os.symlink('new', self.path('to_new'))
        for place in (model, self.path('hard.onnx'), self.path('soft.onnx')):
            for command in (('run', model, '--outputs'), ('run', model, '--profile'), ('opt', model, '-o'),
                            ('opt', model, '--report'), ('opt', model, '--record-kernels')):
                self.refused(*command, place, says='the model itself')
        new, to_new = self.path('new'), self.path('to_new')
        self.refused('opt', model, '-o', new, '--report', to_new, says='also what')
        self.refused('opt', model, '-o', to_new, '--record-kernels', new, says='also what')
        self.refused('run', model, '--outputs', new, '--profile', self.folder.name + '/./new', says='also what')
        inputs = self.npz(('x.npy', npy()))
        self.refused('run', model, '--inputs', inputs, '--outputs', inputs, says='the inputs')
        self.assertFalse(os.path.exists(new))
        dump = self.path('dump')
        self.assertEqual(self.run_wherry('opt', model, '--dump', dump)[0], 0)
        self.refused('opt', dump + '/000_loaded.wir', '-o', dump + '/weights.wry', says='the model itself')
        self.refused('opt', dump + '/000_loaded.wir', '--dump', dump, says='the model itself')
        # The weights in a file of their own.
        self.write('w.bin', struct.pack('<12f', *range(12)))
        external = self.write('external.onnx', onnx_model(weights=data(13, data(1, 'location') + data(2, 'w.bin')) + number(14, 1)))
        self.assertEqual(self.run_wherry('run', external)[0], 0)
        self.refused('run', external, '--outputs', self.path('w.bin'), says='the model itself')

    def test_standard_output_that_is_full(self):
        for arguments in (('list', 'ops'), ('show', self.model), ('run', self.model, '--json'), ('verify', self.model),
                          ('bench', self.model, '--seconds', '0', '--json'), ('--version',)):
            with open('/dev/full', 'wb') as full:
                done = subprocess.run([WHERRY, *arguments], stdout=full, stderr=subprocess.PIPE, timeout=120,
                                      preexec_fn=limit, check=False)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertRegex(done.stderr, rb'\Awherry: cannot write to standard output[^\n]*\n\Z')

    def test_a_limit_of_file_sizes_and_a_signal_leave_nothing(self):
        def small_files():
            limit()
            resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))

        before = sorted(os.listdir(self.folder.name))
        for arguments in (('opt', self.model, '-o'), ('run', self.model, '--outputs'), ('run', self.model, '--profile')):
            done = subprocess.run([WHERRY, *arguments, self.path('o')], capture_output=True, timeout=120,
                                  preexec_fn=small_files, check=False)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertIn(b'File too large', done.stderr)
        self.assertEqual(sorted(os.listdir(self.folder.name)), before)
        os.mkdir(self.path('out'))
        large = self.write('large.onnx', onnx_model(rows=4 << 20))
        with subprocess.Popen([WHERRY, 'opt', large, '-o', self.path('out/o.wry')], stdout=subprocess.DEVNULL) as opt:
            while opt.poll() is None and not os.listdir(self.path('out')):
                time.sleep(0.001)
            opt.send_signal(signal.SIGTERM)
        self.assertIn(opt.returncode, (0, -signal.SIGTERM))
        self.assertIn(os.listdir(self.path('out')), ([], ['o.wry']))

    def test_names_reach_the_terminal_escaped(self):
        model = self.write('named.onnx', onnx_model('y\x1b[31m\nz'))
        for arguments in (('run', model), ('show', model), ('show', model, '--optimized'), ('opt', model, '--report', '/dev/stdout'),
                          ('bench', model, '--seconds', '0', '--ops'), ('show', model, '--explain', 'relu'), ('verify', model),
                          ('show', model, '--explain', 'fused_matmul'), ('show', model, '--format', 'dot'), ('show', model, '--format', 'svg')):
            _, _, out = self.run_wherry(*arguments)
            self.assertNotIn(b'\x1b', out, arguments)
            self.assertNotIn(b'\nz', out, arguments)
        self.refused('run', model, '--outputs', self.path('o.npz'), says='control')

    def test_a_link_stays_a_link_and_a_device_a_device(self):
        os.symlink('target.json', self.path('link.json'))
        self.write('target.json', b'old')
        self.assertEqual(self.run_wherry('run', self.model, '--profile', self.path('link.json'))[0], 0)
        self.assertTrue(os.path.islink(self.path('link.json')))
        with open(self.path('target.json'), 'rb') as file:
            self.assertNotEqual(file.read(), b'old')
        # A pipe stands for a device: no test should risk /dev/null.
        os.mkfifo(self.path('pipe'))
        reader = os.open(self.path('pipe'), os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        self.assertEqual(self.run_wherry('run', self.model, '--profile', self.path('pipe'))[0], 0)
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path('pipe')).st_mode))
        self.assertIn(b'traceEvents', os.read(reader, 1 << 16))
        self.refused('run', self.model, '--outputs', self.path('pipe'))
        self.refused('opt', self.model, '-o', self.path('pipe'))


if __name__ == '__main__':
    WHERRY = sys.argv[1]
    SANITIZED = '--sanitized' in sys.argv
    unittest.main(argv=sys.argv[:1])
