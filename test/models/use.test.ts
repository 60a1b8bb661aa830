import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { readVerifiedActiveSet } from '../../src/models/active-set.ts'
import {
  calibratedEmbedder,
  embedderFiles,
  startModelsCli,
  type ModelsCli,
} from '../support/models/models-cli.ts'
import {
  manifestOf,
  smallLiveness,
  smallNetwork,
  smallEmbedder,
  writePack,
} from '../support/models/small-network.ts'
import { runCli } from '../support/cli/run-cli.ts'
import { evalDataFolder } from '../support/paths.ts'

const evalModels = path.join(evalDataFolder, 'models')
const skipWithoutModels = { skip: !existsSync(evalModels) && 'NOT TRIED: eval-data is not here' }

const network = smallNetwork(2)

let cli: ModelsCli
beforeEach(async () => {
  cli = await startModelsCli()
})
afterEach(() => cli[Symbol.asyncDispose]())

test('a choice by pack, by model and by role', async () => {
  const both = [
    smallLiveness('one'),
    smallLiveness('two'),
    smallEmbedder('face', calibratedEmbedder),
  ]
  const files = { 'one.onnx': network, 'two.onnx': network, 'face.onnx': smallNetwork(16) }
  await cli.run('install', await cli.writePack('all', both, { ...files, ...embedderFiles }))
  assert.deepEqual(await cli.json('use', 'all'), {
    detector: 'builtin',
    recognizer: 'all/face',
    liveness: ['all/one', 'all/two'],
    formerRecognizers: ['builtin'],
  })
  assert.deepEqual((await cli.json('use', 'all/two')).liveness, ['all/two'])
  assert.deepEqual((await cli.json('use', 'builtin', '--role', 'liveness')).recognizer, 'all/face')
  const back = await cli.json('use', 'builtin')
  assert.deepEqual(back.formerRecognizers, ['all/face'])
  await assert.rejects(cli.run('remove', 'all'), /existing templates need all\/face/u)
  assert.match((await cli.run('use', 'all')).out, /no template of the new recognizer yet/u)
  await assert.rejects(cli.run('use', 'all', '--role', 'detector'), /all has no detector/u)
  await assert.rejects(cli.run('use', 'all/three'), /the pack all has no model three/u)
  await assert.rejects(cli.run('use', 'all', '--role', 'eyes'), /--role must be detector/u)
})

test('two embedders of one name and version are never kept side by side', async () => {
  const files = { 'net.onnx': smallNetwork(16), ...embedderFiles }
  const model = smallEmbedder('net', calibratedEmbedder)
  await cli.run('install', await cli.writePack('mine', [model], files), '--use')
  await cli.run('install', await cli.writePack('yours', [model], files))
  await assert.rejects(cli.run('use', 'yours'), /old templates are called net@1 too: raise/u)
  const raised = { ...model, version: '2' }
  await cli.run('install', await cli.writePack('ours', [raised], files), '--use')
})

test('what was made for an embedder is kept when its network is installed again', async () => {
  const bare = { 'net.onnx': smallNetwork(16) }
  const place = await cli.writePack('mine', [smallEmbedder('net', calibratedEmbedder)], {
    ...bare,
    ...embedderFiles,
  })
  await cli.run('install', place, '--use')
  await cli.writePack('mine', [smallEmbedder('net')], bare)
  await writeFile(cli.installedPath('mine', 'net.onnx'), 'rotten')
  await cli.run('install', place)
  const { recognizer } = await readVerifiedActiveSet(cli.modelsFolder)
  assert.ok(recognizer !== 'builtin')
  assert.deepEqual(recognizer.model.decoding, { ...calibratedEmbedder.decoding, flip: true })
  assert.equal(existsSync(cli.installedPath('mine', 'table.json')), true)
})

test('a broken pack that nothing needs can be removed', async () => {
  await cli.run('install', await cli.writePack('mine'))
  await writeFile(cli.installedPath('mine', 'pack.json'), '{')
  await assert.rejects(cli.run('list'), /pack\.json is not JSON/u)
  await assert.rejects(cli.run('remove', '../packs'), /the pack \.\.\/packs is not installed/u)
  await cli.run('remove', 'mine')
  assert.equal(existsSync(cli.installedPath('mine')), false)
  assert.match((await cli.run('verify')).out, /nothing is installed/u)
})

test('a failure is one line and an exit code', async () => {
  const { code, err } = await runCli(['models', 'install', 'nowhere'])
  assert.deepEqual([code, err.split('\n').length], [1, 2])
  assert.match(err, /^facegate: there is no pack nowhere: .*recommended/u)
})

test('a recognizer without a table of similarities is not chosen', async () => {
  const place = await cli.writePack('raw', [smallEmbedder('net')], { 'net.onnx': smallNetwork(16) })
  await assert.rejects(cli.run('install', place, '--use'), /net has no table of similarities yet/u)
  assert.deepEqual(await cli.json('verify'), [{ model: 'raw/net', fault: null }])
})

test('the way back to the built-in models is open when the chosen ones are lost', async () => {
  const files = { 'net.onnx': smallNetwork(16), ...embedderFiles }
  await cli.run(
    'install',
    await cli.writePack('lost', [smallEmbedder('net', calibratedEmbedder)], files),
    '--use',
  )
  await writeFile(cli.installedPath('lost', 'net.onnx'), 'rotten')
  await assert.rejects(readVerifiedActiveSet(cli.modelsFolder), /facegate models use builtin/u)
  assert.match((await cli.run('use', 'builtin')).beside, /WARNING: the model lost\/net is broken/u)
  assert.equal((await readVerifiedActiveSet(cli.modelsFolder)).recognizer, 'builtin')
  await cli.run('install', path.join(cli.folder, 'lost'), '--use')
  await rm(cli.installedPath('lost'), { recursive: true })
  await cli.run('use', 'builtin')
  assert.equal((await readVerifiedActiveSet(cli.modelsFolder)).recognizer, 'builtin')
})

test(
  'public packs are installed from files at hand, tried, and called what they are',
  skipWithoutModels,
  async () => {
    for (const name of ['scrfd-2.5g', 'antispoofing-bin-1.5', 'mobilefacenet'])
      await cli.run('install', name, '--from', evalModels, '--accept-licence')
    const place = await writePack(
      path.join(cli.folder, 'small'),
      manifestOf('small', [
        smallLiveness('minifasnet', {
          file: '2.7_80x80_MiniFASNetV2.onnx',
          input: { width: 80, height: 80, colourOrder: 'BGR' },
          decoding: {
            kind: 'antispoof',
            crop: 'stretched',
            cropFactor: 2.7,
            classes: 3,
            liveClass: 1,
          },
        }),
        smallLiveness('yunet', {
          role: 'detector',
          file: 'yunet_n_dynamic.onnx',
          input: { width: 320, height: 320, colourOrder: 'BGR' },
          decoding: { kind: 'yunet', scoreThreshold: 0.7, overlapMax: 0.35 },
        }),
      ]),
      {},
    )
    await cli.run('install', place, '--from', evalModels, '--use')
    const faults = (await cli.json('verify')).map(({ fault }: { fault: string | null }) => fault)
    assert.deepEqual(faults, Array(5).fill(null))
    const { detector } = await readVerifiedActiveSet(cli.modelsFolder)
    assert.ok(detector !== 'builtin' && detector.model.id === 'yunet')
    await assert.rejects(
      cli.run('install', 'mobilefacenet', '--accept-licence'),
      /nobody says where/u,
    )
  },
)
