import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { packManifest, type PackManifestInput } from '../../src/models/pack-manifest.ts'
import type { InstalledModel } from '../../src/models/model-set.ts'
import {
  type DecodeDetections,
  type RawDetection,
  retinaface,
  scrfd,
  yunet,
} from '../../src/vision/detect/decoders.ts'
import { openInstalledModel, type ModelSession } from '../../src/vision/session.ts'
import { blackInput, fitInput } from '../../src/vision/tensor.ts'
import {
  constantNetwork,
  constantSidePx as side,
  type NetworkOutputs,
} from '../support/models/constant-network.ts'
import { smallNetwork, smallRecognizer, smallSidePx } from '../support/models/small-network.ts'

let folder: string
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-networks-'))
})
after(() => rm(folder, { recursive: true }))

type DetectorNetwork = Pick<PackManifestInput['models'][number], 'decoding'> & {
  readonly bytes: Uint8Array
}

async function install(
  name: string,
  { decoding, bytes }: DetectorNetwork,
): Promise<InstalledModel> {
  const model = smallRecognizer(name, {
    role: 'detector',
    input: { width: side, height: side, colourOrder: 'BGR' },
    decoding,
  })
  await writeFile(path.join(folder, `${name}.onnx`), bytes)
  const manifest = { schema: 1, name, description: 'of a test', models: [model] }
  const [parsed] = packManifest.parse(manifest).models
  return { folder, model: parsed ?? assert.fail() }
}

async function decodeWith(
  installed: InstalledModel,
  createDecoder: (session: ModelSession) => DecodeDetections,
): Promise<RawDetection[]> {
  const session = await openInstalledModel(installed)
  try {
    return createDecoder(session)(await session.run(blackInput(session.input)), session.input)
  } finally {
    await session.close()
  }
}

/** Returns all numbers of a detection, rounded so that float32 values can be compared. */
function faceNumbers({ box, score, landmarkPoints }: RawDetection): number[] {
  const all = [
    score,
    box.x,
    box.y,
    box.width,
    box.height,
    ...landmarkPoints.flatMap(({ x, y }) => [x, y]),
  ]
  return all.map((value) => Math.round(value * 1e3) / 1e3)
}

/** Returns `size` zeros, with `values` from the index `start` on. */
function zeros(size: number, start = 0, values: readonly number[] = []): number[] {
  return Array.from({ length: size }, (_, index) => values[index - start] ?? 0)
}

const threshold = { scoreThreshold: 0.5, overlapMax: 0.4 }
const offsets = [0, 0, 1, 0, 0.5, 0.5, 0.25, 1, 0.75, 1]

test("YuNet: a cell's box and points are decoded to px of the input", async () => {
  const cells = [16, 4, 1]
  const empty = [8, 16, 32].flatMap((stride, level) => [
    [`cls_${stride}`, zeros(cells[level] ?? 0)],
    [`obj_${stride}`, zeros(cells[level] ?? 0)],
    [`bbox_${stride}`, zeros(4 * (cells[level] ?? 0))],
    [`kps_${stride}`, zeros(10 * (cells[level] ?? 0))],
  ])
  // The third of four cells of stride 16: column 0, row 1.
  const outputs: NetworkOutputs = {
    ...Object.fromEntries(empty),
    cls_16: zeros(4, 2, [0.81]),
    obj_16: zeros(4, 2, [1]),
    bbox_16: zeros(16, 8, [0.5, 0.25, Math.log(1.5), Math.log(2)]),
    kps_16: zeros(40, 20, offsets),
  }
  const decoding = { kind: 'yunet', ...threshold } as const
  const faces = await decodeWith(
    await install('yunet', { decoding, bytes: constantNetwork(outputs) }),
    yunet,
  )
  const points = [0, 16, 16, 16, 8, 24, 4, 32, 12, 32]
  assert.deepEqual(faces.map(faceNumbers), [[0.9, -4, 4, 24, 32, ...points]])
})

test('SCRFD: outputs are read in the order of the graph, and anchors are corners of cells', async () => {
  const anchors = [32, 8, 2]
  const outputPart = (perAnchor: number, filled: readonly number[]) =>
    anchors.map((count, level) =>
      level === 0 ? zeros(count * perAnchor, 11 * perAnchor, filled) : zeros(count * perAnchor),
    )
  // The twelfth anchor of stride 8 is the second of cell 5: column 1, row 1.
  const outputs = [
    outputPart(1, [0.75]),
    outputPart(4, [1, 0.5, 2, 1.5]),
    outputPart(10, offsets),
  ].flat()
  const namedOutputs = Object.fromEntries(
    outputs.map((values, index) => [`${440 + 3 * index}`, values]),
  )
  const decoding = { kind: 'scrfd', anchorsPerCell: 2, ...threshold } as const
  const installed = await install('scrfd', { decoding, bytes: constantNetwork(namedOutputs) })
  const faces = await decodeWith(installed, (session) => scrfd(session, decoding))
  const points = [8, 8, 16, 8, 12, 12, 10, 16, 14, 16]
  assert.deepEqual(faces.map(faceNumbers), [[0.75, 0, 4, 24, 16, ...points]])
})

test('RetinaFace: priors, variances and the second of two probabilities are used', async () => {
  const decoding = {
    kind: 'retinaface',
    outputs: { boxes: 'loc', scores: 'conf', points: 'landms' },
    strides: [16],
    priorSides: [[10, 20]],
    variances: [0.1, 0.2],
    boxToFace: { left: 0, top: 0, width: 1, height: 1 },
    ...threshold,
  } satisfies PackManifestInput['models'][number]['decoding']
  // The sixth of eight priors: the larger of cell 2 (column 0, row 1), a square of 20 around (8, 24).
  const outputs = {
    loc: zeros(32, 20, [1, -2, Math.log(2) / 0.2, 0]),
    conf: zeros(16, 10, [0.1, 0.9]),
    landms: zeros(80, 50, offsets),
  }
  const installed = await install('retinaface', { decoding, bytes: constantNetwork(outputs) })
  const faces = await decodeWith(installed, (session) => retinaface(session, decoding))
  const points = [8, 24, 10, 24, 9, 25, 8.5, 26, 9.5, 26]
  assert.deepEqual(faces.map(faceNumbers), [[0.9, -10, 10, 40, 20, ...points]])
  const uneven = { ...decoding, strides: [8, 16] }
  await assert.rejects(
    decodeWith(installed, (session) => retinaface(session, uneven)),
    /retinaface\.onnx: the manifest has 2 strides, but sides of priors for 1/u,
  )
})

test('The error for an output that is missing or has the wrong length names output and file', async () => {
  const decoding = { kind: 'yunet', ...threshold } as const
  const short = await install('short', { decoding, bytes: constantNetwork({ cls_8: zeros(15) }) })
  await assert.rejects(
    decodeWith(short, yunet),
    /short\.onnx: the output "cls_8" has 15 values, not 16/u,
  )
  const none = await install('none', { decoding, bytes: constantNetwork({ cls: zeros(16) }) })
  await assert.rejects(decodeWith(none, yunet), /none\.onnx: no output "cls_8"/u)
  await assert.rejects(
    decodeWith(none, (session) => scrfd(session, { anchorsPerCell: 2 })),
    /none\.onnx: 1 outputs, not 9/u,
  )
})

test('The error for an input that differs from the manifest names input and file', async () => {
  const embedder = smallRecognizer('small')
  await writeFile(path.join(folder, 'small.onnx'), smallNetwork(16))
  const manifest = { schema: 1, name: 'small', description: 'of a test', models: [embedder] }
  const model = packManifest.parse(manifest).models[0] ?? assert.fail()
  const openWithInput = (changes: Partial<typeof model.input>) =>
    openInstalledModel({ folder, model: { ...model, input: { ...model.input, ...changes } } })
  await assert.rejects(
    openWithInput({ width: 112 }),
    /small\.onnx: the input "input" has the shape any×3×16×16, the manifest declares N×3×16×112/u,
  )
  await assert.rejects(
    openWithInput({ name: 'data' }),
    /small\.onnx: no input "data" among "input"/u,
  )
  await writeFile(path.join(folder, 'broken.onnx'), 'not a network')
  await assert.rejects(
    openInstalledModel({ folder, model: { ...model, file: 'broken.onnx' } }),
    /cannot load the network .*broken\.onnx/u,
  )
})

test('A network with a batch size of one is run once per image', async () => {
  const bytes = Buffer.from(smallNetwork(16))
  // Sets the batch size to 1: replaces the dimension "N" (12 01 4e) by a value (08 81 00).
  const name = Buffer.from([0x12, 0x01, 0x4e])
  for (let offset = bytes.indexOf(name); offset >= 0; offset = bytes.indexOf(name, offset))
    bytes.set([0x08, 0x81, 0x00], offset)
  await writeFile(path.join(folder, 'one.onnx'), bytes)
  const embedder = smallRecognizer('one')
  const manifest = { schema: 1, name: 'one', description: 'of a test', models: [embedder] }
  const model = packManifest.parse(manifest).models[0] ?? assert.fail()
  const session = await openInstalledModel({ folder, model })
  const size = 3 * smallSidePx * smallSidePx
  const [dark, light] = [new Float32Array(size), new Float32Array(size).fill(1)]
  const batch = new Float32Array(2 * size)
  batch.set(light, size)
  const [separate, batched] = [
    await Promise.all([dark, light].map(async (tensor) => (await session.run(tensor))['output'])),
    (await session.run(batch))['output'],
  ]
  await session.close()
  assert.deepEqual(
    [...(batched ?? [])],
    separate.flatMap((values) => [...(values ?? [])]),
  )
  assert.equal(batched?.length, 32)
})

test('The input of a network of any size is the frame rounded up to multiples of the stride', () => {
  const input = { width: 320, height: 320, colourOrder: 'BGR', mean: [0, 0, 0], scale: 1 } as const
  const sizeOf = (width: number, height: number) => {
    const fitted = fitInput({ width, height, pixels: new Uint8Array() }, input)
    return [fitted.width, fitted.height]
  }
  assert.deepEqual(sizeOf(1280, 720), [320, 192])
  assert.deepEqual(sizeOf(720, 1280), [192, 320])
  assert.deepEqual(sizeOf(500, 500), [320, 320])
  assert.deepEqual(sizeOf(2000, 10), [320, 32])
  assert.deepEqual(sizeOf(2000, 1), [320, 32])
})
