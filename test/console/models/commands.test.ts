import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createAccount } from '../../../src/store/tenancy/projects.ts'
import { assertOk, startConsole, type TestConsole } from '../../support/console/test-console.ts'
import {
  manifestOf,
  smallLiveness,
  smallNetwork,
  writePack,
} from '../../support/models/small-network.ts'

const licence = { name: 'of a test', commercialUse: 'unclear', note: 'ask its author' } as const
const notFor = 'doors'
const measured = [{ what: 'ACER', on: 'a test set', value: '0.1' }]

let testConsole: TestConsole
let incoming: string
before(async () => {
  testConsole = await startConsole()
  incoming = path.join(testConsole.gallery.dataDir, 'models', 'incoming')
  await writePack(
    path.join(incoming, 'mine'),
    manifestOf('mine', [smallLiveness('net', { licence, notFor, measured })]),
    { 'net.onnx': smallNetwork(2) },
  )
})
after(() => testConsole?.[Symbol.asyncDispose]())

const commandPath = '/models/command'
const send = (command: string, target?: string, options: object = {}) =>
  testConsole.owner.send('POST', commandPath, { command, target, options })
const readRun = async () => assertOk(await testConsole.owner.get(commandPath)).body.run
const readModels = async () => assertOk(await testConsole.owner.get('/models')).body
const readModel = async (name: string) =>
  (await readModels()).models.find(({ model }: { model: string }) => model === name)

/** Starts a command and waits until it ends. */
async function run(...command: Parameters<typeof send>) {
  assertOk(await send(...command))
  for (;;) {
    const last = await readRun()
    if (last.state !== 'running') return last
    await sleep(50)
  }
}

test('A pack of the folder of incoming files is installed, used and removed', async () => {
  assert.equal(await readRun(), null)
  const { body } = assertOk(await testConsole.owner.get(commandPath))
  assert.deepEqual(body.incoming, [{ name: 'mine', kind: 'pack' }])
  const refused = await run('install', 'mine')
  assert.equal(refused.state, 'failed')
  assert.match(refused.output, /WARNING: the licence of mine\/net does NOT CLEARLY ALLOW/u)
  const installed = await run('install', 'mine', { 'accept-licence': true })
  assert.equal(installed.state, 'done', installed.output)
  assert.equal(installed.commandLine, 'facegate models install mine --from . --accept-licence')
  assert.equal(installed.startedBy, 'Olga')
  const card = await readModel('mine/net')
  assert.deepEqual(
    [card.state, card.use, card.nextUse, card.licence, card.note, card.notFor, card.measured],
    [
      'installed',
      null,
      null,
      licence.name,
      licence.note,
      notFor,
      [{ ...measured[0], how: 'quoted' }],
    ],
  )
  assert.equal((await run('use', 'mine', { role: 'liveness' })).state, 'done')
  const used = await readModel('mine/net')
  assert.deepEqual([used.use, used.nextUse], [null, 'active'])
  const builtin = await readModel('builtin/liveness')
  assert.deepEqual([builtin.use, builtin.nextUse], ['active', null])
  assert.match((await run('remove', 'mine')).output, /mine is in use/u)
  assert.match((await run('verify')).output, /mine\/net +yes/u)
  assert.equal((await run('use', 'builtin')).state, 'done')
  assert.equal((await run('remove', 'mine')).state, 'done')
  assert.equal(await readModel('mine/net'), undefined)
})

test('A change is in the audit log twice: the user who started it, and what the command did', async () => {
  const { items } = assertOk(await testConsole.owner.get('/audit')).body
  const entries = items.map((entry: Record<string, string>) =>
    [entry['auditAction'], entry['userName'], entry['target']].join(', '),
  )
  assert.deepEqual(entries.slice(0, 2).toSorted(), [
    'models.remove, command line, mine',
    'models.startCommand, Olga, facegate models remove mine',
  ])
})

test('A public pack is listed with its licence, and is downloaded unless its files are there', async () => {
  const { models, mayChange, coverage } = await readModels()
  assert.equal(mayChange, true)
  const offered = models.filter(({ state }: { state: string }) => state === 'available')
  const yunet = offered.find(({ model }: { model: string }) => model === 'recommended/yunet-n')
  assert.deepEqual([yunet.licence, yunet.commercialUse], ['Apache-2.0', 'allowed'])
  assert.ok(yunet.measured.length > 0)
  assert.deepEqual(coverage, { comparableFaces: 0, remakeableFaces: 0, waitingFaces: 0 })
  // A file of the right name and another content is not used.
  await writeFile(path.join(incoming, 'yunet_n_dynamic.onnx'), 'another network')
  const { state, output } = await run('install', 'recommended')
  assert.equal(state, 'failed')
  assert.match(output, /yunet_n_dynamic\.onnx does not match the checksum in the manifest/u)
})

test('A command names nothing outside of the folder, and one runs at a time', async () => {
  for (const target of [
    '/etc',
    '../incoming',
    'mine/../..',
    'https://example.invalid/pack.json',
    '.',
  ])
    assert.equal((await send('install', target)).status, 422, target)
  const pictures = await send('qualify', 'a.onnx', { pictures: '/etc', name: 'x', licence: 'x' })
  assert.equal(pictures.status, 422)
  assert.equal((await send('serve')).status, 422)
  const started = await Promise.all([send('verify'), send('verify'), send('verify')])
  assert.deepEqual(
    started.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 409, 409],
  )
  assertOk(await testConsole.owner.send('DELETE', commandPath))
  assert.equal(await readRun(), null)
  assert.equal((await testConsole.owner.send('DELETE', commandPath)).status, 409)
})

test('Only owners of the first account change models', async () => {
  const admin = await testConsole.inviteMember('admin')
  assert.equal((await admin.send('POST', commandPath, { command: 'verify' })).status, 403)
  const seen = assertOk(await admin.get('/models')).body
  assert.deepEqual([seen.mayChange, seen.coverage], [false, null])
  await createAccount(testConsole.gallery.database.store.db, 'older', new Date(0))
  const refused = await send('verify')
  assert.deepEqual(
    [refused.status, refused.body.detail],
    [403, 'Only users of the first account change the models.'],
  )
  assert.equal((await testConsole.owner.get(commandPath)).status, 403)
  assert.equal((await readModels()).mayChange, false)
})
