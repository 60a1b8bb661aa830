import { readFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { catalogue } from '../../src/models/catalogue/catalogue.ts'
import { buildGraph, encodeModel } from '../../src/models/convert/onnx/graph.ts'
import { replacePrelu } from '../../src/models/convert/onnx/replace-prelu.ts'
import { convertPytorch } from '../../src/models/convert/pytorch/convert-pytorch.ts'
import { readPickle } from '../../src/models/convert/pytorch/read-pickle.ts'
import { readStateDict } from '../../src/models/convert/pytorch/state-dict.ts'
import { parseManifest } from '../../src/models/installed-packs.ts'
import {
  legacyTorchFile,
  pickle as pickleFile,
  pickleText,
  zipTorchFile,
} from '../../test/support/models/torch-file.ts'
import { fixturesFolder } from '../../test/support/paths.ts'
import { isPlainRejection, textOf, type FuzzTarget } from './target.ts'

const pickleTokens = [
  '\x80\x02',
  '(',
  '.',
  'N',
  '\x88',
  '\x89',
  '}',
  ']',
  ')',
  't',
  '\x85',
  '\x86',
  '\x87',
  'a',
  'e',
  's',
  'u',
  'q\0',
  'h\0',
  'r\0\0\0\0',
  'j\0\0\0\0',
  'R',
  'b',
  'Q',
  'K\0',
  'M\0\0',
  'J\xff\xff\xff\x7f',
  'J\xff\xff\xff\xff',
  'G\x7f\xf8\0\0\0\0\0\0',
  '\x8a\x08\0\0\0\0\0\0\x20\0',
  '\x8a\xff',
  'X\x01\0\0\0a',
  'X\xff\xff\xff\xff',
  'ctorch\nFloatStorage\n',
  'cos\nsystem\n',
  'ctorch._utils\n_rebuild_tensor_v2\n',
  'ccollections\nOrderedDict\n)R',
  pickleText('storage'),
]

const weights = new Map([
  ['module.a', { shape: [2, 2], data: Float32Array.of(1, 2, 3, 4) }],
  ['b', { shape: [3], data: Float32Array.of(5, 6, 7) }],
])

export const pickle: FuzzTarget = {
  name: 'pickle',
  seeds: () => [
    pickleFile(`}(${pickleText('a')}K\x01${pickleText('b')}]u`),
    pickleFile('(K\x01K\x02t\x85q\0h\0\x86'),
    pickleFile('\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19'),
  ],
  tokens: pickleTokens,
  run: (input) => {
    const { value, references } = readPickle(input)
    const kind = value !== null && typeof value === 'object' && 'kind' in value ? value.kind : ''
    return `${typeof value} ${kind} ${Math.min(references.length, 3)}`
  },
  isExpected: isPlainRejection,
}

/** Files of weights: a pickle in a zip archive, or the format before version 1.6. */
export const pytorch: FuzzTarget = {
  name: 'pytorch',
  seeds: () => {
    const fixture = (name: string): Buffer => readFileSync(path.join(fixturesFolder, 'torch', name))
    return [
      zipTorchFile(weights),
      legacyTorchFile(weights),
      ...['mixed.zip.pth', 'mixed.legacy.pth', 'double.zip.pth'].map(fixture),
      gunzipSync(fixture('tiny-minifasnet-v1se.pth.gz')),
    ]
  },
  tokens: [
    ...pickleTokens,
    'PK\x03\x04',
    'PK\x01\x02',
    'PK\x05\x06',
    'data.pkl',
    'data/0',
    'little',
  ],
  run: (input) => {
    const dict = readStateDict(input, 'weights.pth')
    if (dict.size > 10) convertPytorch('MiniFASNetV1SE', input, 'weights.pth')
    return `${Math.min(dict.size, 9)} weights`
  },
  isExpected: isPlainRejection,
}

export const onnx: FuzzTarget = {
  name: 'onnx',
  seeds: () => {
    const graph = buildGraph('network')
    graph.input('x', [2, 4, 4])
    const filters = graph.floats(Float32Array.of(1, 2), [2, 1, 1, 1])
    const map = graph.add('Conv', ['x', filters], { group: 2, kernel_shape: [1, 1] })
    const slopes = graph.floats(Float32Array.of(0.1, 0.2), [2, 1, 1])
    graph.output('y', graph.add('PRelu', [map, slopes]), [2, 4, 4])
    return [encodeModel(graph.graph)]
  },
  tokens: [
    'PRelu',
    'Conv',
    '\x0a\0',
    ':\x02',
    '*\x04',
    '\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01',
    'BatchNormalization',
    '\x70\x01',
    '\x4a\x08',
    '\x12\x02',
    '\x22\x05PRelu',
    '\x08\x02',
  ],
  run: (input) => {
    const output = replacePrelu(input)
    return output === input ? 'unchanged' : 'replaced'
  },
  isExpected: isPlainRejection,
}

export const manifest: FuzzTarget = {
  name: 'manifest',
  seeds: () => catalogue.map((pack) => Buffer.from(JSON.stringify(pack))),
  tokens: ['"models":', '"decoding":', '"kind":', '"url":', 'http://', '../', '"sha256":', 'null'],
  run: (input) => {
    const { models } = parseManifest(textOf(input), 'pack.json')
    return `${Math.min(models.length, 5)} ${models.map(({ decoding }) => decoding.kind).join()}`
  },
  isExpected: isPlainRejection,
}
