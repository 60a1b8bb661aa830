import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { readFile, readdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { readVerifiedActiveSet } from '../../src/models/active-set.ts'
import { sha256Of } from '../../src/models/sha256.ts'
import { startModelServer, type ModelServer } from '../support/models/model-server.ts'
import {
  calibratedRecognizer,
  startModelsCli,
  type ModelsCli,
} from '../support/models/models-cli.ts'
import {
  manifestOf,
  smallLiveness,
  smallNetwork,
  smallRecognizer,
} from '../support/models/small-network.ts'
import { startCli } from '../support/cli/run-cli.ts'
import { fixturesFolder } from '../support/paths.ts'

const network = smallNetwork(2)

let server: ModelServer
before(async () => {
  server = await startModelServer({})
})
after(() => server[Symbol.asyncDispose]())

let cli: ModelsCli
beforeEach(async () => {
  server.files.clear()
  server.requests.splice(0)
  cli = await startModelsCli()
})
afterEach(() => cli[Symbol.asyncDispose]())

test('a pack in a folder is installed, activated, verified and removed', async () => {
  const packPath = await cli.writePack('mine')
  const result = await cli.json('install', packPath, '--use')
  assert.deepEqual(result.models, [{ model: 'mine/net', role: 'liveness' }])
  assert.deepEqual(result.pinned, ['net.onnx'])
  assert.deepEqual(result.chosen.liveness, ['mine/net'])
  const { liveness } = await readVerifiedActiveSet(cli.modelsFolder)
  assert.ok(liveness !== 'builtin' && liveness[0].model.sha256 === sha256Of(network))

  const rows = await cli.json('list')
  const row = rows.find(({ model }: { model: string }) => model === 'mine/net')
  assert.deepEqual(row, {
    model: 'mine/net',
    version: '1',
    roles: ['liveness'],
    state: 'installed',
    use: 'active',
    licence: 'MIT',
    commercialUse: 'allowed',
    file: 'net.onnx',
    sha256: sha256Of(network),
    bytes: network.length,
    isOutdated: false,
    description: 'a test pack',
    provenance: { origin: 'a test', trainingData: 'none' },
    measured: [],
  })
  assert.deepEqual(await cli.json('verify'), [{ model: 'mine/net', fault: null }])
  await assert.rejects(cli.run('remove', 'mine'), /mine is in use/u)
  assert.deepEqual((await cli.json('use', 'builtin')).liveness, ['builtin'])
  await cli.json('remove', 'mine')
  await assert.rejects(cli.run('remove', 'mine'), /not installed/u)
})

test('the list contains built-in and available models with licence and use', async () => {
  const rows: readonly { model: string; state: string; use: string; commercialUse: string }[] =
    await cli.json('list')
  const find = (model: string) => rows.find((row) => row.model === model)
  assert.equal(find('builtin/face_recognition')?.use, 'active')
  assert.equal(find('recommended/yunet-n')?.commercialUse, 'allowed')
  assert.equal(find('buffalo-l/w600k-r50')?.commercialUse, 'forbidden')
  const permitted = rows.filter(({ commercialUse }) => commercialUse === 'allowed')
  assert.ok(permitted.length > 0)
  assert.deepEqual(await cli.json('list', '--commercial'), permitted)
  assert.match((await cli.run('list')).out, /recommended\/minifasnet-v2 +liveness +available/u)
})

test('a pack whose licence forbids or does not clearly allow commercial use needs --accept-licence', async () => {
  for (const commercialUse of ['forbidden', 'unclear'] as const) {
    const licence = { name: 'research only', commercialUse }
    const packPath = await cli.writePack(commercialUse, [smallLiveness('net', { licence })])
    await assert.rejects(cli.run('install', packPath), /nothing was installed.*--accept-licence/u)
    assert.equal(existsSync(cli.installedPath(commercialUse)), false)
    const { messages } = await cli.run('install', packPath, '--accept-licence')
    assert.match(messages, /WARNING: the licence of \w+\/net .*"research only"/u)
  }
})

test('a pack from a URL fetches files beside its manifest and files at other URLs', async () => {
  const remote = smallLiveness('far', {
    source: { url: server.url('weights/near.onnx'), sha256: null, format: { kind: 'onnx' } },
  })
  const sibling = smallLiveness('near', { sha256: sha256Of(network) })
  server.files.set('packs/pack.json', { bytes: Buffer.from(manifestOf('web', [sibling, remote])) })
  server.files.set('packs/near.onnx', { bytes: network, disconnectAfterBytes: [] })
  const otherNetwork = Buffer.concat([network, Buffer.from('2203616c73', 'hex')])
  server.files.set('weights/near.onnx', { bytes: otherNetwork })
  const result = await cli.json('install', server.url('packs/pack.json'))
  assert.deepEqual(result.pinned, ['far.onnx'])
  assert.deepEqual((await readdir(cli.installedPath('web'))).toSorted(), [
    'far.onnx',
    'near.onnx',
    'pack.json',
  ])
  const { models } = JSON.parse(await readFile(cli.installedPath('web', 'pack.json'), 'utf8'))
  assert.deepEqual(
    [models[0].sha256, models[1].sha256],
    [sha256Of(network), sha256Of(otherNetwork)],
  )
  const tooLarge = Buffer.alloc(2_000_000, 32)
  server.files.set('packs/pack.json', { bytes: tooLarge })
  await assert.rejects(
    cli.run('install', server.url('packs/pack.json')),
    /too large for a manifest/u,
  )
  await assert.rejects(cli.run('install', server.url('nothing')), /returned HTTP 404/u)
  await assert.rejects(
    cli.run('install', 'http://models.invalid/pack.json'),
    /not an HTTPS address/u,
  )
})

test('PyTorch weights are fetched, read as data and converted to ONNX', async () => {
  const file = path.join(fixturesFolder, 'torch/tiny-minifasnet-v1se.pth.gz')
  const weights = gunzipSync(await readFile(file))
  server.files.set('tiny.pth', { bytes: weights })
  const model = smallLiveness('tiny', {
    input: { width: 80, height: 80, colourOrder: 'BGR' },
    decoding: { kind: 'antispoof', crop: 'stretched', cropFactor: 4, classes: 3, liveClass: 1 },
    source: {
      url: server.url('tiny.pth'),
      sha256: sha256Of(weights),
      format: { kind: 'pytorch', architecture: 'MiniFASNetV1SE' },
    },
  })
  await cli.run('install', await cli.writePack('torch', [model]))
  assert.deepEqual((await readdir(cli.installedPath('torch'))).toSorted(), [
    'pack.json',
    'tiny.onnx',
  ])
  assert.deepEqual(await cli.json('verify', 'torch'), [{ model: 'torch/tiny', fault: null }])

  server.files.set('tiny.pth', { bytes: Buffer.from('<html>') })
  const htmlPack = await cli.writePack('html', [
    { ...model, source: { ...model.source, sha256: null } as typeof model.source },
  ])
  await assert.rejects(cli.run('install', htmlPack), /tiny\.pth is not a file of PyTorch weights/u)
  assert.equal(existsSync(cli.installedPath('html')), false)
})

test('a failed installation installs nothing, and the next one reuses its downloads', async () => {
  const modelFrom = (name: string) =>
    smallLiveness(name, {
      source: { url: server.url(name), sha256: sha256Of(network), format: { kind: 'onnx' } },
    })
  const packPath = await cli.writePack('two', [modelFrom('first'), modelFrom('second')])
  server.files.set('first', { bytes: network })
  await assert.rejects(cli.run('install', packPath), /second returned HTTP 404/u)
  assert.equal(existsSync(cli.installedPath('two')), false)
  assert.deepEqual(
    (await cli.json('list')).filter((row: { state: string }) => row.state === 'installed'),
    [],
  )
  server.files.set('second', { bytes: network })
  await cli.run('install', packPath)
  assert.deepEqual(server.requests, ['first', 'second', 'second'])
  assert.deepEqual(await readdir(path.join(cli.modelsFolder, 'packs')), ['two'])
})

test('a killed installation is resumed at the same offset', async () => {
  const net = { bytes: network, etag: '"net"' }
  server.files.set('net', { ...net, isStalledAtEnd: true })
  const model = smallLiveness('net', {
    source: { url: server.url('net'), sha256: sha256Of(network), format: { kind: 'onnx' } },
  })
  const packPath = await cli.writePack('cut', [model])
  const { process: child, result: exited } = startCli(['models', 'install', packPath])
  const partFile = path.join(cli.modelsFolder, 'packs', '.unfinished-cut', 'net.onnx.part')
  const size = (): number => (existsSync(partFile) ? statSync(partFile).size : 0)
  while (size() < network.length - 1 && child.exitCode === null) await sleep(20)
  child.kill('SIGKILL')
  await exited
  assert.equal(existsSync(cli.installedPath('cut')), false)
  server.files.set('net', net)
  await cli.run('install', packPath)
  assert.deepEqual(server.requests, ['net', `net bytes=${network.length - 1}-`])
})

test('an invalid pack or a file that does not match the manifest is rejected with the reason', async () => {
  const wrongSha256 = '0'.repeat(64)
  const rejections: readonly (readonly [Promise<string>, RegExp])[] = [
    [
      cli.writePack('a', [smallLiveness('net', { sha256: wrongSha256 })]),
      /net\.onnx does not match the checksum/u,
    ],
    [cli.writePack('b', [smallLiveness('net')], {}), /cannot read .*net\.onnx/u],
    [
      cli.writePack('c', [smallLiveness('net')], { 'net.onnx': smallNetwork(3) }),
      /has 3 values instead of 2/u,
    ],
    [
      cli.writePack('d', [smallLiveness('net')], { 'net.onnx': smallNetwork(2, 'NaN') }),
      /values that are not finite/u,
    ],
    [
      cli.writePack('e', [smallLiveness('net')], { 'net.onnx': Buffer.from('x') }),
      /cannot load the network/u,
    ],
    [
      cli.writePack('f', [
        smallLiveness('net', { input: { width: 32, height: 32, colourOrder: 'RGB' } }),
      ]),
      /has the shape any×3×16×16, the manifest declares N×3×32×32/u,
    ],
    [
      cli.writePack('g', [smallRecognizer('net', calibratedRecognizer)], {
        'net.onnx': smallNetwork(16),
        'cohort.f16': Buffer.from('others'),
        'table.json': Buffer.from('{}'),
      }),
      /cohort\.f16 does not match the checksum in the manifest/u,
    ],
    [cli.writePack('builtin'), /name: must not be builtin/u],
    [
      cli.writePack('i', [smallLiveness('net'), smallLiveness('net')]),
      /models: two models have the same/u,
    ],
    [
      cli.writePack('j', [smallLiveness('net', { file: 'pack.json' })]),
      /two files have the same name/u,
    ],
    [cli.writePack('h', [smallLiveness('../x')]), /models\.0\.id: must be 1\.\.64/u],
    [Promise.resolve(cli.folder), /has no pack\.json/u],
    [Promise.resolve('nowhere'), /no pack nowhere: pass a folder, a URL, or one of recommended/u],
  ]
  for (const [packPath, reason] of rejections)
    await assert.rejects(cli.run('install', await packPath), reason)
  assert.deepEqual(
    (await cli.json('list')).filter((row: { state: string }) => row.state === 'installed'),
    [],
  )
})

test('a pipe and a file above the limit are rejected as a manifest', async () => {
  const packPath = await cli.writePack('mine')
  const manifest = path.join(packPath, 'pack.json')
  const reason = /pack\.json is not a file of at most 1048576 bytes/u
  await writeFile(manifest, ' '.repeat(1_048_577))
  await assert.rejects(cli.run('install', packPath), reason)
  await rm(manifest)
  await assert.rejects(cli.run('install', packPath), /has no pack\.json/u)
  if (process.platform === 'win32') return
  execFileSync('mkfifo', [manifest])
  const install = startCli(['models', 'install', packPath], { MODELS_DIR: cli.modelsFolder })
  const { code, err } = await install.result
  assert.equal(code, 1)
  assert.match(err, reason)
})

test('a pack in use can be repaired but not changed', async () => {
  const packPath = await cli.writePack('mine')
  await cli.run('install', packPath, '--use')
  await writeFile(cli.installedPath('mine', 'net.onnx'), 'damaged')
  await assert.rejects(cli.run('verify'), /1 of 1 models must be installed again/u)
  await assert.rejects(readVerifiedActiveSet(cli.modelsFolder), /was altered/u)
  await cli.run('install', packPath)
  assert.equal((await readVerifiedActiveSet(cli.modelsFolder)).liveness.length, 1)
  const brokenPack = await cli.writePack('mine', [smallLiveness('net')], {
    'net.onnx': smallNetwork(2, 'NaN'),
  })
  await assert.rejects(cli.run('install', brokenPack), /does not work/u)
  const changed = { ...smallLiveness('net'), file: 'other.onnx' }
  const bytes = Buffer.concat([network, Buffer.from('7a0178', 'hex')])
  await cli.writePack('mine', [changed], { 'other.onnx': bytes })
  await assert.rejects(
    cli.run('install', packPath),
    /mine is in use and this would change its net/u,
  )
})
