import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import {
  calibratedRecognizer,
  recognizerFiles,
  startModelsCli,
  type ModelsCli,
} from '../support/models/models-cli.ts'
import { smallLiveness, smallNetwork, smallRecognizer } from '../support/models/small-network.ts'

let cli: ModelsCli
beforeEach(async () => {
  cli = await startModelsCli()
})
afterEach(() => cli[Symbol.asyncDispose]())

test('the input and the decoding of a model in use are not changed, nor of a former recognizer', async () => {
  const files = { 'net.onnx': smallNetwork(16), ...recognizerFiles }
  const { decoding } = calibratedRecognizer
  const { input } = smallRecognizer('net')
  const recognizerOf = (changes: object) => smallRecognizer('net', { decoding, input, ...changes })
  const install = async (changes: object) =>
    cli.run('install', await cli.writePack('mine', [recognizerOf(changes)], files))
  await install({})
  await cli.run('use', 'mine')
  const changes = [
    { input: { ...input, colourOrder: 'BGR' } },
    { input: { ...input, mean: [0, 127.5, 255] } },
    { input: { ...input, scale: 1 } },
    { decoding: { ...decoding, flip: false } },
    { decoding: { ...decoding, cohort: { ...decoding.cohort, neighbours: 2 } } },
  ]
  const reason =
    /mine is in use .* its net: give the pack another name and the model another version/u
  for (const change of changes) await assert.rejects(install(change), reason)
  await cli.run('use', 'builtin')
  for (const change of changes) await assert.rejects(install(change), reason)
  await install({ measured: [{ what: 'TAR', on: 'a set', value: '1' }] })

  const livenessOf = (liveMin: number) => {
    const decoded = {
      kind: 'antispoof',
      crop: 'square',
      cropFactor: 1,
      classes: 2,
      liveClass: 0,
    } as const
    return cli.writePack('eyes', [smallLiveness('net', { decoding: { ...decoded, liveMin } })])
  }
  await cli.run('install', await livenessOf(0.5), '--use')
  await assert.rejects(
    cli.run('install', await livenessOf(0.9)),
    /eyes is in use .* its net: give the pack another name and the model another/u,
  )
  await cli.run('use', 'builtin')
  await cli.run('install', await livenessOf(0.9))
})

test('a calibration is not kept for another input', async () => {
  const files = { 'net.onnx': smallNetwork(16), ...recognizerFiles }
  const model = smallRecognizer('net', calibratedRecognizer)
  await cli.run('install', await cli.writePack('mine', [model], files))
  const input = { ...model.input, colourOrder: 'BGR' } as const
  const packPath = await cli.writePack('mine', [smallRecognizer('net', { input })], files)
  await cli.run('install', packPath)
  await assert.rejects(cli.run('use', 'mine'), /net has no similarity table yet/u)
})
