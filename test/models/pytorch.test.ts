import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { convertPytorch } from '../../src/models/convert/pytorch/convert-pytorch.ts'
import { readStateDict } from '../../src/models/convert/pytorch/state-dict.ts'
import type { WeightTensor } from '../../src/models/convert/weights.ts'
import { readOnnxWeights } from '../support/models/onnx-weights.ts'
import {
  legacyTorchFile,
  pickle,
  pickleText,
  zipFile,
  zipTorchFile,
} from '../support/models/torch-file.ts'
import { evalDataFolder, fixturesFolder } from '../support/paths.ts'

const fixtures = path.join(fixturesFolder, 'torch')
const modelsFolder = path.join(evalDataFolder, 'models')
const skipWithoutModels = {
  skip: !existsSync(modelsFolder) && 'NOT COMPARED: eval-data is not here',
}

const fixture = async (name: string): Promise<Uint8Array> => readFile(path.join(fixtures, name))

/** The weights of the small network that torch wrote; names as its file has them. */
async function tinyFile(): Promise<Uint8Array> {
  return gunzipSync(await fixture('tiny-minifasnet-v1se.pth.gz'))
}

for (const format of ['legacy', 'zip'])
  test(`weights that torch wrote are read: floats, halves, counters, cuts (${format})`, async () => {
    const dict = readStateDict(await fixture(`mixed.${format}.pth`), 'mixed')
    const values = Object.fromEntries([...dict].map(([name, { data }]) => [name, [...data]]))
    assert.deepEqual(values, {
      rows: [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 2.25, 2.5, 2.75],
      columns: [0, 1, 2, 0.25, 1.25, 2.25, 0.5, 1.5, 2.5, 0.75, 1.75, 2.75],
      corner: [1.5, 1.75, 2.5, 2.75],
      halves: [0.5, -2, 65_504, 2 ** -24],
      count: [Math.fround(12_345_678_901)],
      parameter: [1.5],
    })
    assert.deepEqual(dict.get('columns')?.shape, [4, 3])
    assert.deepEqual(dict.get('count')?.shape, [])
  })

test('a network that torch saved answers in ONNX Runtime as it answered in torch', async () => {
  const product = convertPytorch('MiniFASNetV1SE', await tinyFile(), 'tiny')
  const picture = Float32Array.from({ length: 3 * 80 * 80 }, (_, at) => at % 255)
  const [answer] = await run(product, picture)
  assertNear(answer, [-0.0163951, 0.0432913, 0.1368197])
})

for (const [file, architecture] of [
  ['2.7_80x80_MiniFASNetV2.onnx', 'MiniFASNetV2'],
  ['4_0_0_80x80_MiniFASNetV1SE.onnx', 'MiniFASNetV1SE'],
] as const)
  test(
    `${architecture} made of its weights is the network that others made`,
    skipWithoutModels,
    async () => {
      const theirs = await readFile(path.join(modelsFolder, file))
      const dict = stateDictOf(readOnnxWeights(theirs))
      const picture = Float32Array.from({ length: 2 * 3 * 80 * 80 }, (_, at) => (at * 7919) % 256)
      const expected = await run(theirs, picture)
      for (const write of [legacyTorchFile, zipTorchFile]) {
        const answers = await run(convertPytorch(architecture, write(dict), file), picture)
        for (const [at, answer] of answers.entries()) assertNear(answer, expected[at] ?? [])
      }
    },
  )

test('what is not a file of weights is refused by what it does, and nothing of it is run', () => {
  const evil = `cposix\nsystem\n(${pickleText('touch /tmp/owned')}tR`
  const refusals: readonly (readonly [Uint8Array, RegExp])[] = [
    [zipOf(evil), /names posix\.system/u],
    [zipOf('c__builtin__\neval\n'), /names __builtin__\.eval/u],
    [zipOf('i'), /operation 0x69 at byte 2/u],
    [zipOf(')'), /no dict of weights/u],
    [zipOf(`}${pickleText('w')}K\x01s`), /w is no tensor/u],
    [zipOf(`}${pickleText('w')}ctorch\nfloat32\ns`), /w is no tensor/u],
    [zipOf('0'), /operation 0x30/u],
    [zipOf('K\x01a'), /appends to no list/u],
    [zipOf('t'), /ends what it never began/u],
    [zipOf('(K\x01(ba'), /empty stack/u],
    [zipOf('h\x05'), /recalls 5/u],
    [zipOf('X\xff\xff\xff\x7f'), /a text of 2147483647 bytes/u],
    [zipFile([['a/data.pkl', pickle('}')]], 8), /a\/data\.pkl is compressed/u],
    [zipFile([['data.pkl', pickle('}')]]), /no data\.pkl/u],
    [pickle('}'), /does not begin as a file of torch/u],
    [Buffer.from('<!doctype html>'), /not a file of PyTorch weights: operation 0x3c/u],
    [new Uint8Array(), /it ends at byte 0/u],
  ]
  for (const [bytes, reason] of refusals) {
    assert.throws(() => readStateDict(bytes, 'w.pth'), reason)
    assert.throws(() => readStateDict(bytes, 'w.pth'), /^Error: w\.pth is not a file of PyTorch/u)
  }
})

test('numbers of another type are refused by name', async () => {
  const double = await fixture('double.zip.pth')
  assert.throws(() => readStateDict(double, 'd'), /names torch\.DoubleStorage/u)
})

test('a file that ends early, wherever, or has a byte turned is refused or read, never more', async () => {
  for (const name of ['mixed.legacy.pth', 'mixed.zip.pth']) {
    const whole = await fixture(name)
    for (let end = 0; end < whole.length; end += 3)
      assert.throws(() => readStateDict(whole.subarray(0, end), name), /not a file of PyTorch/u)
    for (let at = 0; at < whole.length; at++) {
      const turned = Uint8Array.from(whole).fill((whole[at] ?? 0) ^ 0x55, at, at + 1)
      try {
        readStateDict(turned, name)
      } catch (error) {
        assert.match(String(error), /not a file of PyTorch weights/u)
      }
    }
  }
})

test('a tensor beyond its storage is refused', () => {
  const one: WeightTensor = { shape: [2, 2], data: new Float32Array(3) }
  for (const write of [legacyTorchFile, zipTorchFile])
    assert.throws(() => readStateDict(write(new Map([['w', one]])), 'w'), /2×2 does not fit/u)
})

test('weights of another network are named', async () => {
  const dict = new Map(readStateDict(await tinyFile(), 'tiny'))
  const build = (change: (changed: Map<string, WeightTensor>) => void): (() => Uint8Array) => {
    const changed = new Map(dict)
    change(changed)
    return () => convertPytorch('MiniFASNetV1SE', zipTorchFile(changed), 'tiny.pth')
  }
  const odd: WeightTensor = { shape: [1], data: new Float32Array(1) }
  assert.throws(
    build((map) => map.delete('conv1.bn.bias')),
    /no weights conv1\.bn\.bias/u,
  )
  assert.throws(
    build((map) => map.set('bn.weight', odd)),
    /bn\.weight has the shape 1, not 5/u,
  )
  assert.throws(
    build((map) => map.set('extra.weight', odd)),
    /no place for the weights extra/u,
  )
  const file = await tinyFile()
  assert.throws(() => convertPytorch('MiniFASNetV2', file, 'tiny.pth'), /no place .*se_module/u)
})

const zipOf = (operations: string): Buffer => zipFile([['w/data.pkl', pickle(operations)]])

/** The answers of a network to pictures of 3×80×80 values. */
async function run(onnx: Uint8Array, pictures: Float32Array): Promise<number[][]> {
  const session = await InferenceSession.create(onnx, { intraOpNumThreads: 1 })
  const count = pictures.length / (3 * 80 * 80)
  const { output } = await session.run({
    input: new Tensor('float32', pictures, [count, 3, 80, 80]),
  })
  await session.release()
  const values = Array.from(output?.data as Float32Array)
  return Array.from({ length: count }, (_, at) => values.slice(3 * at, 3 * at + 3))
}

function assertNear(actual: readonly number[] | undefined, expected: readonly number[]): void {
  assert.equal(actual?.length, expected.length)
  for (const [at, value] of expected.entries())
    assert.ok(
      Math.abs(value - (actual?.[at] ?? Number.NaN)) < 1e-5,
      `${actual?.join()} is near ${expected.join()}`,
    )
}

/**
 * The state dict that a conversion of a trained network was made of, but for its normalisations:
 * they are in the filters already, so that here they change nothing but add the bias.
 */
function stateDictOf(
  weights: ReadonlyMap<string, WeightTensor>,
): ReadonlyMap<string, WeightTensor> {
  const dict = new Map<string, WeightTensor>()
  const normalise = (norm: string, bias: Float32Array): void => {
    const all = (value: number): WeightTensor => ({
      shape: [bias.length],
      data: new Float32Array(bias.length).fill(value),
    })
    dict.set(`${norm}.weight`, all(1)).set(`${norm}.running_mean`, all(0))
    dict.set(`${norm}.running_var`, all(1 - 1e-5))
    dict.set(`${norm}.bias`, { shape: [bias.length], data: bias })
  }
  const linear: Readonly<Record<string, string>> = { lw: 'linear.weight', pw: 'prob.weight' }
  for (const [name, { shape, data }] of weights) {
    const stem = name.slice(0, -2)
    if (linear[name]) dict.set(`module.${linear[name]}`, { shape, data })
    else if (name === 'lb') normalise('module.bn', data)
    else if (name.endsWith('.w')) dict.set(`module.${stem}.weight`, { shape, data })
    else if (name.endsWith('.a'))
      dict.set(`module.${stem}.prelu.weight`, { shape: [data.length], data })
    else if (name.endsWith('.b'))
      normalise(`module.${stem.replace(/conv$/u, 'bn').replace(/fc(\d)$/u, 'bn$1')}`, data)
  }
  return dict
}
