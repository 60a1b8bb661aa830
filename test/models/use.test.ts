import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { findInstalledModel, findPack, modelRefOf } from '../../src/models/installed-packs.ts'
import { recognizerModelId } from '../../src/models/model-set.ts'
import { sha256Of } from '../../src/models/sha256.ts'
import { readCohort } from '../../src/models/template/read-cohort.ts'
import { readVerifiedActiveSet } from '../../src/models/active-set.ts'
import {
  calibratedRecognizer,
  recognizerFiles,
  startModelsCli,
  tableOf,
  type ModelsCli,
} from '../support/models/models-cli.ts'
import {
  manifestOf,
  smallLiveness,
  smallNetwork,
  smallRecognizer,
  writePack,
} from '../support/models/small-network.ts'
import { runCli } from '../support/cli/run-cli.ts'
import { evalDataFolder } from '../support/paths.ts'

const evalModels = path.join(evalDataFolder, 'models')
const skipWithoutModels = { skip: !existsSync(evalModels) && 'eval-data is missing' }

const network = smallNetwork(2)
const builtinModelId = recognizerModelId('builtin')

let cli: ModelsCli
beforeEach(async () => {
  cli = await startModelsCli()
})
afterEach(() => cli[Symbol.asyncDispose]())

test('models are activated by pack, by model and by role', async () => {
  const packModels = [
    smallLiveness('one'),
    smallLiveness('two'),
    smallRecognizer('face', calibratedRecognizer),
  ]
  const networks = { 'one.onnx': network, 'two.onnx': network, 'face.onnx': smallNetwork(16) }
  const files = { ...networks, ...recognizerFiles, 'table.json': tableOf('face@1') }
  await cli.run('install', await cli.writePack('all', packModels, files))
  assert.deepEqual(await cli.json('use', 'all'), {
    detector: 'builtin',
    recognizer: 'all/face',
    liveness: ['all/one', 'all/two'],
    formerRecognizers: ['builtin'],
  })
  assert.deepEqual((await cli.json('use', 'all/two')).liveness, ['all/two'])
  assert.deepEqual((await cli.json('use', 'builtin', '--role', 'liveness')).recognizer, 'all/face')
  const builtin = await cli.json('use', 'builtin')
  assert.deepEqual(builtin.formerRecognizers, ['all/face'])
  await assert.rejects(
    cli.run('remove', 'all'),
    /all\/face is kept .*: facegate models retire face@1 --confirm face@1$/u,
  )
  const { out } = await cli.run('use', 'all')
  assert.match(out, /no template of the new recognizer yet/u)
  assert.match(
    out,
    /face@1 hold only for pictures like those of its calibration.*facegate calibrate/u,
  )
  await assert.rejects(cli.run('use', 'all', '--role', 'detector'), /all has no detector/u)
  await assert.rejects(cli.run('use', 'all/three'), /the pack all has no model three/u)
  await assert.rejects(cli.run('use', 'all', '--role', 'eyes'), /--role must be detector/u)
})

test('two recognizers with the same id and version are never active together', async () => {
  const files = { 'net.onnx': smallNetwork(16), ...recognizerFiles }
  const model = smallRecognizer('net', calibratedRecognizer)
  await cli.run('install', await cli.writePack('mine', [model], files), '--use')
  await cli.run('install', await cli.writePack('yours', [model], files))
  await assert.rejects(
    cli.run('use', 'yours'),
    /stored templates of another network use net@1: raise/u,
  )
  const newVersion = { ...model, version: '2' }
  const newFiles = { ...files, 'table.json': tableOf('net@2') }
  await cli.run('install', await cli.writePack('ours', [newVersion], newFiles), '--use')
})

test('the calibration of a recognizer is kept when the same network is installed again', async () => {
  const networkFile = { 'net.onnx': smallNetwork(16) }
  const packPath = await cli.writePack('mine', [smallRecognizer('net', calibratedRecognizer)], {
    ...networkFile,
    ...recognizerFiles,
  })
  await cli.run('install', packPath, '--use')
  await cli.writePack('mine', [smallRecognizer('net')], networkFile)
  await writeFile(cli.installedPath('mine', 'net.onnx'), 'damaged')
  await cli.run('install', packPath)
  const { recognizer } = await readVerifiedActiveSet(cli.modelsFolder)
  assert.ok(recognizer !== 'builtin')
  assert.deepEqual(recognizer.model.decoding, { ...calibratedRecognizer.decoding, flip: true })
  assert.equal(existsSync(cli.installedPath('mine', 'table.json')), true)
})

test('a damaged pack that is not in use can be removed', async () => {
  await cli.run('install', await cli.writePack('mine'))
  await writeFile(cli.installedPath('mine', 'pack.json'), '{')
  await assert.rejects(cli.run('list'), /pack\.json is not JSON/u)
  await assert.rejects(cli.run('remove', '../packs'), /the pack \.\.\/packs is not installed/u)
  await cli.run('remove', 'mine')
  assert.equal(existsSync(cli.installedPath('mine')), false)
  assert.match((await cli.run('verify')).out, /nothing is installed/u)
})

test('a recognizer is used together with the built-in one if it has a table for both', async () => {
  const files = { 'net.onnx': smallNetwork(16), ...recognizerFiles }
  const { cohort, ...decoding } = calibratedRecognizer.decoding
  const withBuiltin = { cohort, calibration: 'both.json' }
  const alone = smallRecognizer('net', calibratedRecognizer)
  const both = smallRecognizer('net', {
    decoding: { ...decoding, cohort, withBuiltin },
  })
  await cli.run('install', await cli.writePack('mine', [alone], files))
  await assert.rejects(
    cli.run('use', 'builtin+mine'),
    /builtin\+mine\/net has no similarity table yet; .* --models builtin\+mine\/net --calibrate/u,
  )
  await cli.run('install', await cli.writePack('eyes'))
  await assert.rejects(cli.run('use', 'builtin+eyes'), /eyes has no recognizer to use together/u)
  const complete = { ...files, 'both.json': tableOf(`${builtinModelId}+net@1`) }
  await cli.run('install', await cli.writePack('mine', [both], complete))
  const usesOf = async () =>
    Object.fromEntries(
      (await cli.json('list')).map(({ model, use }: Record<string, unknown>) => [model, use]),
    )
  assert.equal((await cli.json('use', 'builtin+mine/net')).recognizer, 'builtin+mine/net')
  const uses = await usesOf()
  assert.deepEqual(
    ['builtin/face_recognition', 'builtin/faceres', 'mine/net'].map((model) => uses[model]),
    ['active', 'active', 'active'],
  )
  await assert.rejects(cli.run('remove', 'mine'), /mine is in use/u)
  await cli.run('use', 'mine')
  const { recognizer, formerRecognizers } = await readVerifiedActiveSet(cli.modelsFolder)
  assert.deepEqual([recognizer, ...formerRecognizers].map(modelRefOf), [
    'mine/net',
    'builtin+mine/net',
    'builtin',
  ])
  assert.equal((await usesOf())['builtin/face_recognition'], 'former')
  // Both tables stay when the network is installed again without them.
  await cli.run('install', await cli.writePack('mine', [smallRecognizer('net')], files))
  const pack = (await findPack(cli.modelsFolder, 'mine')) ?? assert.fail()
  assert.deepEqual(findInstalledModel(pack, 'net')?.model.decoding, {
    ...decoding,
    cohort,
    flip: true,
    withBuiltin,
  })
  assert.equal(existsSync(cli.installedPath('mine', 'both.json')), true)
  const other = { ...cohort, sha256: sha256Of(Buffer.from('others')) }
  const changed = smallRecognizer('net', {
    decoding: {
      ...decoding,
      cohort,
      withBuiltin: { cohort: { ...other, file: 'b.f16' }, calibration: 'both.json' },
    },
  })
  const changedFiles = { ...complete, 'b.f16': Buffer.from('others') }
  await assert.rejects(
    cli.run('install', await cli.writePack('mine', [changed], changedFiles)),
    /mine is in use and this would change its net/u,
  )
})

test('a failure prints one line and exits with code 1', async () => {
  const { code, err } = await runCli(['models', 'install', 'nowhere'])
  assert.deepEqual([code, err.split('\n').length], [1, 2])
  assert.match(err, /^facegate: there is no pack nowhere: .*recommended/u)
})

test('a recognizer without a similarity table cannot be activated', async () => {
  const packPath = await cli.writePack('raw', [smallRecognizer('net')], {
    'net.onnx': smallNetwork(16),
  })
  await assert.rejects(cli.run('install', packPath, '--use'), /net has no similarity table yet/u)
  assert.deepEqual(await cli.json('verify'), [{ model: 'raw/net', fault: null }])
})

test('the built-in models can be activated when the active models are damaged or missing', async () => {
  const files = { 'net.onnx': smallNetwork(16), ...recognizerFiles }
  await cli.run(
    'install',
    await cli.writePack('lost', [smallRecognizer('net', calibratedRecognizer)], files),
    '--use',
  )
  await writeFile(cli.installedPath('lost', 'net.onnx'), 'damaged')
  await assert.rejects(readVerifiedActiveSet(cli.modelsFolder), /facegate models use builtin/u)
  assert.match(
    (await cli.run('use', 'builtin')).messages,
    /WARNING: the model lost\/net is broken/u,
  )
  assert.equal((await readVerifiedActiveSet(cli.modelsFolder)).recognizer, 'builtin')
  await cli.run('install', path.join(cli.folder, 'lost'), '--use')
  await rm(cli.installedPath('lost'), { recursive: true })
  await cli.run('use', 'builtin')
  assert.equal((await readVerifiedActiveSet(cli.modelsFolder)).recognizer, 'builtin')
})

test(
  'public packs are installed from local files and pass the smoke test',
  skipWithoutModels,
  async () => {
    for (const name of ['scrfd-2.5g', 'antispoofing-bin-1.5', 'mobilefacenet'])
      await cli.run('install', name, '--from', evalModels, '--accept-licence')
    const packPath = await writePack(
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
    await cli.run('install', packPath, '--from', evalModels, '--use')
    const faults = (await cli.json('verify')).map(({ fault }: { fault: string | null }) => fault)
    assert.deepEqual(faults, Array(5).fill(null))
    const { detector } = await readVerifiedActiveSet(cli.modelsFolder)
    assert.ok(detector !== 'builtin' && detector.model.id === 'yunet')
    await assert.rejects(
      cli.run('install', 'mobilefacenet', '--accept-licence'),
      /has no download address/u,
    )
    // The folder has only the network; the rows of the cohort are part of Facegate.
    await cli.run('install', 'mobilefacenet', '--accept-licence', '--from', evalModels)
    const pack = (await findPack(cli.modelsFolder, 'mobilefacenet')) ?? assert.fail()
    const model = findInstalledModel(pack, 'mobilefacenet') ?? assert.fail()
    const { cohort } = (await readCohort(model)) ?? assert.fail()
    assert.equal(cohort.length, 1200 * 128)
  },
)
