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
  torchTensor,
  zipFile,
  zipTorchFile,
} from '../support/models/torch-file.ts'
import { evalDataFolder, fixturesFolder } from '../support/paths.ts'

const fixtures = path.join(fixturesFolder, 'torch')
const modelsFolder = path.join(evalDataFolder, 'models')
const skipWithoutModels = {
  skip: !existsSync(modelsFolder) && 'eval-data is missing',
}

const fixture = async (name: string): Promise<Uint8Array> => readFile(path.join(fixtures, name))

/** Reads the weights of a small network that PyTorch wrote. */
async function tinyFile(): Promise<Uint8Array> {
  return gunzipSync(await fixture('tiny-minifasnet-v1se.pth.gz'))
}

for (const format of ['legacy', 'zip'])
  test(`all tensor types and views that PyTorch wrote are read (${format} format)`, async () => {
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

test('a converted network returns the same outputs in ONNX Runtime as in PyTorch', async () => {
  const onnx = convertPytorch('MiniFASNetV1SE', await tinyFile(), 'tiny')
  const image = Float32Array.from({ length: 3 * 80 * 80 }, (_, index) => index % 255)
  const [output] = await run(onnx, image)
  assertNear(output, [-0.0163951, 0.0432913, 0.1368197])
})

for (const [file, architecture] of [
  ['2.7_80x80_MiniFASNetV2.onnx', 'MiniFASNetV2'],
  ['4_0_0_80x80_MiniFASNetV1SE.onnx', 'MiniFASNetV1SE'],
] as const)
  test(
    `${architecture} converted from its weights matches the published ONNX file`,
    skipWithoutModels,
    async () => {
      const published = await readFile(path.join(modelsFolder, file))
      const dict = stateDictOf(readOnnxWeights(published))
      const images = Float32Array.from(
        { length: 2 * 3 * 80 * 80 },
        (_, index) => (index * 7919) % 256,
      )
      const expected = await run(published, images)
      for (const write of [legacyTorchFile, zipTorchFile]) {
        const outputs = await run(convertPytorch(architecture, write(dict), file), images)
        for (const [index, output] of outputs.entries()) assertNear(output, expected[index] ?? [])
      }
    },
  )

test('a file with anything but weights is rejected with the reason, and nothing is executed', () => {
  const exploit = `cposix\nsystem\n(${pickleText('touch /tmp/owned')}tR`
  const rejections: readonly (readonly [Uint8Array, RegExp])[] = [
    [zipOf(exploit), /uses posix\.system/u],
    [zipOf('c__builtin__\neval\n'), /uses __builtin__\.eval/u],
    [zipOf('i'), /operation 0x69 at byte 2/u],
    [zipOf(')'), /no dict of weights/u],
    [zipOf(`}${pickleText('w')}K\x01s`), /w is not a tensor/u],
    [zipOf(`}${pickleText('w')}ctorch\nfloat32\ns`), /w is not a tensor/u],
    [zipOf('0'), /operation 0x30/u],
    [zipOf('K\x01a'), /appends to a value that is not a list/u],
    [zipOf('t'), /has no open mark/u],
    [zipOf('(K\x01(ba'), /empty stack/u],
    [zipOf('h\x05'), /reads memo 5/u],
    [zipOf('X\xff\xff\xff\x7f'), /a string of 2147483647 bytes/u],
    [zipFile([['a/data.pkl', pickle('}')]], 8), /a\/data\.pkl is compressed/u],
    [zipFile([['data.pkl', pickle('}')]]), /no data\.pkl/u],
    [pickle('}'), /does not start with the magic number of PyTorch/u],
    [Buffer.from('<!doctype html>'), /not a file of PyTorch weights: operation 0x3c/u],
    [new Uint8Array(), /it ends early, at byte 0/u],
  ]
  for (const [bytes, reason] of rejections) {
    assert.throws(() => readStateDict(bytes, 'w.pth'), reason)
    assert.throws(() => readStateDict(bytes, 'w.pth'), /^Error: w\.pth is not a file of PyTorch/u)
  }
})

test('an unsupported number type is rejected by name', async () => {
  const double = await fixture('double.zip.pth')
  assert.throws(() => readStateDict(double, 'd'), /uses torch\.DoubleStorage/u)
})

test('a truncated file is rejected, and a file with a changed byte is read or rejected', async () => {
  for (const name of ['mixed.legacy.pth', 'mixed.zip.pth']) {
    const complete = await fixture(name)
    for (let end = 0; end < complete.length; end += 3)
      assert.throws(() => readStateDict(complete.subarray(0, end), name), /not a file of PyTorch/u)
    for (let index = 0; index < complete.length; index++) {
      const changed = Uint8Array.from(complete)
      changed[index] = (complete[index] ?? 0) ^ 0x55
      try {
        readStateDict(changed, name)
      } catch (error) {
        assert.match(String(error), /not a file of PyTorch weights/u)
      }
    }
  }
})

test('a tensor that exceeds its storage is rejected', () => {
  const tensor: WeightTensor = { shape: [2, 2], data: new Float32Array(3) }
  for (const write of [legacyTorchFile, zipTorchFile])
    assert.throws(() => readStateDict(write(new Map([['w', tensor]])), 'w'), /2×2 does not fit/u)
})

/** Encodes a tensor with this shape in a storage with these values. */
const fileOf = (shape: readonly number[], data: Float32Array): readonly Uint8Array[] => {
  const dict = new Map([['w', { shape, data }]])
  return [legacyTorchFile(dict), zipTorchFile(dict)]
}

test('a tensor with an absurd shape is rejected before memory is allocated or rows are visited', () => {
  const one = new Float32Array(1)
  const side = 2 ** 31 - 1
  const rejections: readonly (readonly [readonly number[], Float32Array, RegExp])[] = [
    [Array<number>(8).fill(side), one, /2147483647; a side is at most 268435456/u],
    [[2 ** 28, 2 ** 28], one, /268435456×268435456 does not fit the storage 0 of 1 values/u],
    [[2 ** 28 + 1], one, /the shape 268435457; a side is at most 268435456/u],
    [[side, 0], new Float32Array(0), /the shape 2147483647×0; a side is at most 268435456/u],
    [Array<number>(9).fill(1), one, /invalid shape/u],
  ]
  for (const [shape, data, reason] of rejections)
    for (const file of fileOf(shape, data)) assert.throws(() => readStateDict(file, 'w'), reason)
  // 2 ** 28 rows without values: visiting each of them would be the only work.
  for (const file of fileOf([2 ** 28, 2 ** 28, 0], new Float32Array(0)))
    assert.equal(readStateDict(file, 'w').get('w')?.data.length, 0)
})

test('tensors that share a storage are rejected when they have more values than the file has bytes', () => {
  const data = new Float32Array(1000)
  const fileWith = (count: number): Buffer => {
    const tensor = torchTensor({ shape: [data.length], data }, 0)
    const items = Array.from(
      { length: count },
      (_, index) => pickleText(`w${index}`) + (index === 0 ? `${tensor}q\0` : 'h\0'),
    )
    return zipFile([
      ['w/data.pkl', pickle(`}(${items.join('')}u`)],
      ['w/data/0', Buffer.from(data.buffer)],
    ])
  }
  assert.equal(readStateDict(fileWith(4), 'w').size, 4)
  assert.throws(() => readStateDict(fileWith(5), 'w'), /more values in total than it has bytes/u)
})

test('the error for weights of another network names the weights', async () => {
  const dict = new Map(readStateDict(await tinyFile(), 'tiny'))
  const build = (change: (weights: Map<string, WeightTensor>) => void): (() => Uint8Array) => {
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
    /does not use the weights extra/u,
  )
  const file = await tinyFile()
  assert.throws(() => convertPytorch('MiniFASNetV2', file, 'tiny.pth'), /does not use .*se_module/u)
})

const zipOf = (operations: string): Buffer => zipFile([['w/data.pkl', pickle(operations)]])

/** Runs a network on images of 3×80×80 values. @returns three output values for each image. */
async function run(onnx: Uint8Array, images: Float32Array): Promise<number[][]> {
  const session = await InferenceSession.create(onnx, { intraOpNumThreads: 1 })
  const count = images.length / (3 * 80 * 80)
  const { output } = await session.run({
    input: new Tensor('float32', images, [count, 3, 80, 80]),
  })
  await session.release()
  const values = Array.from(output?.data as Float32Array)
  return Array.from({ length: count }, (_, index) => values.slice(3 * index, 3 * index + 3))
}

function assertNear(actual: readonly number[] | undefined, expected: readonly number[]): void {
  assert.equal(actual?.length, expected.length)
  for (const [index, value] of expected.entries())
    assert.ok(
      Math.abs(value - (actual?.[index] ?? Number.NaN)) < 1e-5,
      `${actual?.join()} is near ${expected.join()}`,
    )
}

/**
 * Creates a state dict from a converted network. Its batch normalisations are already folded into the
 * filters, so the ones created here only add the bias.
 */
function stateDictOf(
  weights: ReadonlyMap<string, WeightTensor>,
): ReadonlyMap<string, WeightTensor> {
  const dict = new Map<string, WeightTensor>()
  const addNormalization = (norm: string, bias: Float32Array): void => {
    const filled = (value: number): WeightTensor => ({
      shape: [bias.length],
      data: new Float32Array(bias.length).fill(value),
    })
    dict.set(`${norm}.weight`, filled(1)).set(`${norm}.running_mean`, filled(0))
    dict.set(`${norm}.running_var`, filled(1 - 1e-5))
    dict.set(`${norm}.bias`, { shape: [bias.length], data: bias })
  }
  const linearNames: Readonly<Record<string, string>> = { lw: 'linear.weight', pw: 'prob.weight' }
  for (const [name, { shape, data }] of weights) {
    const stem = name.slice(0, -2)
    if (linearNames[name]) dict.set(`module.${linearNames[name]}`, { shape, data })
    else if (name === 'lb') addNormalization('module.bn', data)
    else if (name.endsWith('.w')) dict.set(`module.${stem}.weight`, { shape, data })
    else if (name.endsWith('.a'))
      dict.set(`module.${stem}.prelu.weight`, { shape: [data.length], data })
    else if (name.endsWith('.b'))
      addNormalization(`module.${stem.replace(/conv$/u, 'bn').replace(/fc(\d)$/u, 'bn$1')}`, data)
  }
  return dict
}
