import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, test } from 'node:test'
import { readVerifiedActiveSet } from '../../src/models/active-set.ts'
import { buildGraph, encodeModel } from '../../src/models/convert/onnx/graph.ts'
import { findInstalledModel, readPack } from '../../src/models/installed-packs.ts'
import { sha256Of } from '../../src/models/sha256.ts'
import { runSmokeTest } from '../../src/vision/self-test/self-test.ts'
import {
  calibratedRecognizer,
  recognizerFiles,
  startModelsCli,
  tableOf,
  type ModelsCli,
} from '../support/models/models-cli.ts'
import { smallNetwork, smallRecognizer, smallSidePx } from '../support/models/small-network.ts'

/** Half-precision numbers that are not finite: one row for `smallNetwork(16)`. */
const notNumbers = Buffer.alloc(32, Buffer.from([0, 0x7e]))

let cli: ModelsCli
beforeEach(async () => {
  cli = await startModelsCli()
})
afterEach(() => cli[Symbol.asyncDispose]())

/** A recognizer whose cohort or table stops the start of the service, by the name of its pack. */
const unusable: Readonly<Record<string, readonly [string, Buffer, RegExp]>> = {
  nan: ['cohort.f16', notNumbers, /cohort\.f16 must contain finite numbers only; .* use builtin/u],
  short: ['cohort.f16', Buffer.alloc(30), /cohort\.f16 must contain at least 1 rows of 16/u],
  table: ['table.json', Buffer.from('{}'), /table\.json is not a valid calibration/u],
  other: ['table.json', tableOf('net@2'), /is the calibration of net@2, not of net@1/u],
}

for (const [name, [file, bytes, reason]] of Object.entries(unusable))
  test(`a recognizer that stops the start is not used, and the way back works: ${name}`, async () => {
    const files = { 'net.onnx': smallNetwork(16), ...recognizerFiles }
    const packPath = await cli.writePack(
      'mine',
      [smallRecognizer('net', calibratedRecognizer)],
      files,
    )
    await cli.run('install', packPath, '--use')
    // As written by `evaluate verification --calibrate`: the manifest contains the checksum.
    await writeFile(cli.installedPath('mine', file), bytes)
    const manifestFile = cli.installedPath('mine', 'pack.json')
    const manifest = await readFile(manifestFile, 'utf8')
    const { sha256 } = calibratedRecognizer.decoding.cohort
    if (file === 'cohort.f16')
      await writeFile(manifestFile, manifest.replaceAll(sha256, sha256Of(bytes)))
    await assert.rejects(cli.run('use', 'mine'), reason)
    await cli.run('install', await cli.writePack('eyes'))
    await assert.rejects(cli.run('use', 'eyes'), reason)
    const { messages } = await cli.run('use', 'builtin')
    assert.match(messages, /WARNING: the model mine\/net is broken/u)
    assert.deepEqual((await readVerifiedActiveSet(cli.modelsFolder)).formerRecognizers, [])
    await cli.run('use', 'eyes')
    await cli.run('remove', 'mine')
  })

test('a cohort that cannot be read is reported by verify and at the start', async () => {
  const files = { 'net.onnx': smallNetwork(16), ...recognizerFiles }
  const sha256 = sha256Of(notNumbers)
  const { cohort, ...decoding } = calibratedRecognizer.decoding
  const broken = smallRecognizer('net', {
    decoding: { ...decoding, cohort: { ...cohort, sha256 } },
  })
  const packPath = await cli.writePack('mine', [broken], { ...files, 'cohort.f16': notNumbers })
  await assert.rejects(cli.run('install', packPath), /net does not work: .* finite numbers only/u)
  await cli.run(
    'install',
    await cli.writePack('mine', [smallRecognizer('net', calibratedRecognizer)], files),
    '--use',
  )
  await writeFile(cli.installedPath('mine', 'cohort.f16'), notNumbers)
  const manifestFile = cli.installedPath('mine', 'pack.json')
  const manifest = await readFile(manifestFile, 'utf8')
  await writeFile(manifestFile, manifest.replaceAll(cohort.sha256, sha256))
  const reason = /finite numbers only; install the pack again, or .* models use builtin$/u
  await assert.rejects(readVerifiedActiveSet(cli.modelsFolder), reason)
  await assert.rejects(cli.run('verify'), /1 of 1 models must be installed again/u)
})

/** A recognizer of 16 values: the sum of the input times each of the weights. */
function recognizerOf(weights: Float32Array): Uint8Array {
  const graph = buildGraph('net')
  const pixels = 3 * smallSidePx * smallSidePx
  graph.input('input', [3, smallSidePx, smallSidePx])
  const flat = graph.add('Flatten', ['input'])
  const ones = graph.floats(new Float32Array(pixels).fill(1e-3), [pixels, 1])
  const sum = graph.add('MatMul', [flat, ones])
  graph.output('output', graph.add('MatMul', [sum, graph.floats(weights, [1, 16])]), [16])
  return encodeModel(graph.graph)
}

test('a recognizer whose vectors distinguish no faces is refused', async () => {
  const [zero, oneHot] = [new Float32Array(16), new Float32Array(16)]
  oneHot[3] = 1
  for (const weights of [zero, oneHot]) {
    const files = { 'net.onnx': recognizerOf(weights) }
    const packPath = await cli.writePack('mine', [smallRecognizer('net')], files)
    const reason = /net does not work: its output "output" has at most one value other than 0/u
    await assert.rejects(cli.run('install', packPath), reason)
  }
})

test('a network that needs longer than the service waits has its time as its fault', async () => {
  await cli.run('install', await cli.writePack('mine'))
  const pack = await readPack(cli.installedPath('mine'))
  const model = findInstalledModel(pack, 'net')
  assert.ok(model)
  assert.equal(await runSmokeTest(model, 60_000), undefined)
  const fault = await runSmokeTest(model, -1)
  assert.match(
    fault ?? '',
    /^it takes \d+ ms for one face, and VISION_TIMEOUT_MS is -1: use a smaller/u,
  )
})
