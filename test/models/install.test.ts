import assert from 'node:assert/strict'
import { existsSync, statSync } from 'node:fs'
import { readFile, readdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { readVerifiedActiveSet } from '../../src/models/active-set.ts'
import { sha256Of } from '../../src/models/convert/read-source.ts'
import { startModelServer, type ModelServer } from '../support/models/model-server.ts'
import { calibratedEmbedder, startModelsCli, type ModelsCli } from '../support/models/models-cli.ts'
import {
  manifestOf,
  smallLiveness,
  smallNetwork,
  smallEmbedder,
} from '../support/models/small-network.ts'
import { startCli } from '../support/cli/run-cli.ts'
import { fixturesFolder } from '../support/paths.ts'

const network = smallNetwork(2)

let source: ModelServer
before(async () => {
  source = await startModelServer({})
})
after(() => source[Symbol.asyncDispose]())

let cli: ModelsCli
beforeEach(async () => {
  source.files.clear()
  source.requests.splice(0)
  cli = await startModelsCli()
})
afterEach(() => cli[Symbol.asyncDispose]())

test('a pack of a folder is installed, chosen, verified and removed', async () => {
  const place = await cli.writePack('mine')
  const made = await cli.json('install', place, '--use')
  assert.deepEqual(made.models, [{ model: 'mine/net', role: 'liveness' }])
  assert.deepEqual(made.pinned, ['net.onnx'])
  assert.deepEqual(made.chosen.liveness, ['mine/net'])
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
  })
  assert.deepEqual(await cli.json('verify'), [{ model: 'mine/net', fault: null }])
  await assert.rejects(cli.run('remove', 'mine'), /mine is in use/u)
  assert.deepEqual((await cli.json('use', 'builtin')).liveness, ['builtin'])
  await cli.json('remove', 'mine')
  await assert.rejects(cli.run('remove', 'mine'), /not installed/u)
})

test('the list shows what is built in and what can be had, with licence and use', async () => {
  const rows: readonly { model: string; state: string; use: string; commercialUse: string }[] =
    await cli.json('list')
  const find = (model: string) => rows.find((row) => row.model === model)
  assert.equal(find('builtin/face_recognition')?.use, 'active')
  assert.equal(find('recommended/yunet-n')?.commercialUse, 'allowed')
  assert.equal(find('buffalo-l/w600k-r50')?.commercialUse, 'forbidden')
  assert.match((await cli.run('list')).out, /recommended\/minifasnet-v2 +liveness +available/u)
})

test('a licence that forbids or does not say is warned of, and must be accepted', async () => {
  for (const commercialUse of ['forbidden', 'unclear'] as const) {
    const licence = { name: 'research only', commercialUse }
    const place = await cli.writePack(commercialUse, [smallLiveness('net', { licence })])
    await assert.rejects(cli.run('install', place), /nothing was installed.*--accept-licence/u)
    assert.equal(existsSync(cli.installedPath(commercialUse)), false)
    const { beside } = await cli.run('install', place, '--accept-licence')
    assert.match(beside, /WARNING: the licence of \w+\/net .*"research only"/u)
  }
})

test('a pack of an address brings its files from beside it and from elsewhere', async () => {
  const far = smallLiveness('far', {
    source: { url: source.url('weights/near.onnx'), sha256: null, format: { kind: 'onnx' } },
  })
  const near = smallLiveness('near', { sha256: sha256Of(network) })
  source.files.set('packs/pack.json', { bytes: Buffer.from(manifestOf('web', [near, far])) })
  source.files.set('packs/near.onnx', { bytes: network, disconnectAfterBytes: [] })
  const other = Buffer.concat([network, Buffer.from('2203616c73', 'hex')])
  source.files.set('weights/near.onnx', { bytes: other })
  const made = await cli.json('install', source.url('packs/pack.json'))
  assert.deepEqual(made.pinned, ['far.onnx'])
  assert.deepEqual((await readdir(cli.installedPath('web'))).toSorted(), [
    'far.onnx',
    'near.onnx',
    'pack.json',
  ])
  const { models: kept } = JSON.parse(await readFile(cli.installedPath('web', 'pack.json'), 'utf8'))
  assert.deepEqual([kept[0].sha256, kept[1].sha256], [sha256Of(network), sha256Of(other)])
  const tooLarge = Buffer.alloc(2_000_000, 32)
  source.files.set('packs/pack.json', { bytes: tooLarge })
  await assert.rejects(
    cli.run('install', source.url('packs/pack.json')),
    /too large for a manifest/u,
  )
  await assert.rejects(cli.run('install', source.url('nothing')), /answered 404/u)
  await assert.rejects(
    cli.run('install', 'http://models.invalid/pack.json'),
    /not an address by https/u,
  )
})

test('weights of PyTorch are fetched, read as data and made into a network', async () => {
  const file = path.join(fixturesFolder, 'torch/tiny-minifasnet-v1se.pth.gz')
  const weights = gunzipSync(await readFile(file))
  source.files.set('tiny.pth', { bytes: weights })
  const model = smallLiveness('tiny', {
    input: { width: 80, height: 80, colourOrder: 'BGR' },
    decoding: { kind: 'antispoof', crop: 'stretched', cropFactor: 4, classes: 3, liveClass: 1 },
    source: {
      url: source.url('tiny.pth'),
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

  source.files.set('tiny.pth', { bytes: Buffer.from('<html>') })
  const other = await cli.writePack('html', [
    { ...model, source: { ...model.source, sha256: null } as typeof model.source },
  ])
  await assert.rejects(cli.run('install', other), /tiny\.pth is not a file of PyTorch weights/u)
  assert.equal(existsSync(cli.installedPath('html')), false)
})

test('an installation that fails installs nothing, and the next one goes on with its parts', async () => {
  const from = (name: string) =>
    smallLiveness(name, {
      source: { url: source.url(name), sha256: sha256Of(network), format: { kind: 'onnx' } },
    })
  const place = await cli.writePack('two', [from('first'), from('second')])
  source.files.set('first', { bytes: network })
  await assert.rejects(cli.run('install', place), /second answered 404/u)
  assert.equal(existsSync(cli.installedPath('two')), false)
  assert.deepEqual(
    (await cli.json('list')).filter((row: { state: string }) => row.state === 'installed'),
    [],
  )
  source.files.set('second', { bytes: network })
  await cli.run('install', place)
  assert.deepEqual(source.requests, ['first', 'second', 'second'])
  assert.deepEqual(await readdir(path.join(cli.modelsFolder, 'packs')), ['two'])
})

test('an installation that was killed is gone on with where it stopped', async () => {
  const net = { bytes: network, etag: '"net"' }
  source.files.set('net', { ...net, isStalledAtEnd: true })
  const model = smallLiveness('net', {
    source: { url: source.url('net'), sha256: sha256Of(network), format: { kind: 'onnx' } },
  })
  const place = await cli.writePack('cut', [model])
  const { process: child, result: ended } = startCli(['models', 'install', place])
  const part = path.join(cli.modelsFolder, 'packs', '.unfinished-cut', 'net.onnx.part')
  const size = (): number => (existsSync(part) ? statSync(part).size : 0)
  while (size() < network.length - 1 && child.exitCode === null) await sleep(20)
  child.kill('SIGKILL')
  await ended
  assert.equal(existsSync(cli.installedPath('cut')), false)
  source.files.set('net', net)
  await cli.run('install', place)
  assert.deepEqual(source.requests, ['net', `net bytes=${network.length - 1}-`])
})

test('what does not fit its manifest is refused by name', async () => {
  const wrongSum = '0'.repeat(64)
  const refusals: readonly (readonly [Promise<string>, RegExp])[] = [
    [
      cli.writePack('a', [smallLiveness('net', { sha256: wrongSum })]),
      /net\.onnx is not the file of the/u,
    ],
    [cli.writePack('b', [smallLiveness('net')], {}), /cannot read .*net\.onnx/u],
    [
      cli.writePack('c', [smallLiveness('net')], { 'net.onnx': smallNetwork(3) }),
      /has 3 values instead of 2/u,
    ],
    [
      cli.writePack('d', [smallLiveness('net')], { 'net.onnx': smallNetwork(2, 'NaN') }),
      /not of finite/u,
    ],
    [
      cli.writePack('e', [smallLiveness('net')], { 'net.onnx': Buffer.from('x') }),
      /cannot load the network/u,
    ],
    [
      cli.writePack('f', [
        smallLiveness('net', { input: { width: 32, height: 32, colourOrder: 'RGB' } }),
      ]),
      /takes any×3×16×16, the manifest says N×3×32×32/u,
    ],
    [
      cli.writePack('g', [smallEmbedder('net', calibratedEmbedder)], {
        'net.onnx': smallNetwork(16),
        'cohort.f16': Buffer.from('others'),
        'table.json': Buffer.from('{}'),
      }),
      /cohort\.f16 is not the file of the manifest/u,
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
    [
      Promise.resolve('nowhere'),
      /no pack nowhere: name a folder, an address, or one of recommended/u,
    ],
  ]
  for (const [place, reason] of refusals)
    await assert.rejects(cli.run('install', await place), reason)
  assert.deepEqual(
    (await cli.json('list')).filter((row: { state: string }) => row.state === 'installed'),
    [],
  )
})

test('a pack in use may be repaired, but not changed under the feet of the service', async () => {
  const place = await cli.writePack('mine')
  await cli.run('install', place, '--use')
  await writeFile(cli.installedPath('mine', 'net.onnx'), 'rotten')
  await assert.rejects(cli.run('verify'), /1 of 1 models must be installed again/u)
  await assert.rejects(readVerifiedActiveSet(cli.modelsFolder), /was altered/u)
  await cli.run('install', place)
  assert.equal((await readVerifiedActiveSet(cli.modelsFolder)).liveness.length, 1)
  const other = await cli.writePack('mine', [smallLiveness('net')], {
    'net.onnx': smallNetwork(2, 'NaN'),
  })
  await assert.rejects(cli.run('install', other), /does not work/u)
  const changed = { ...smallLiveness('net'), file: 'other.onnx' }
  const bytes = Buffer.concat([network, Buffer.from('7a0178', 'hex')])
  await cli.writePack('mine', [changed], { 'other.onnx': bytes })
  await assert.rejects(cli.run('install', place), /mine is in use and this would change its net/u)
})
