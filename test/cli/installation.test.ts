import assert from 'node:assert/strict'
import { chmod, copyFile, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { findRuntimeProblems } from '../../src/cli/installation/inspect-installation.ts'
import { diskAlerts } from '../../src/console/analytics/alerts.ts'
import { builtinPack } from '../../src/models/builtin/builtin-pack.ts'
import type { Store } from '../../src/store/database.ts'
import { sha256Of } from '../../src/models/sha256.ts'
import { addAuditEntry } from '../../src/store/console/audit-log.ts'
import {
  findCurrentMasterKeyId,
  storeCurrentMasterKeyId,
} from '../../src/store/gallery/galleries.ts'
import { runCli } from '../support/cli/run-cli.ts'
import { assertOk, createConsoleClient, validPassword } from '../support/console/test-console.ts'
import { createDataFolder } from '../support/database/data-folder.ts'
import { databaseSettings, isOnPostgres, openTestStore } from '../support/database/engine.ts'
import {
  samplePhotograph,
  startFacegate,
  type TestFacegate,
} from '../support/facegate/test-facegate.ts'
import {
  manifestOf,
  smallLiveness,
  smallNetwork,
  writePack,
} from '../support/models/small-network.ts'
import { freePort } from '../support/network/free-port.ts'

let facegate: TestFacegate
/** For files of one test. */
let folder: string
before(async () => {
  facegate = await startFacegate()
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-installation-'))
})
after(async () => {
  await facegate?.[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

type Settings = Readonly<Record<string, string>>

/** Runs a command with the settings of the running service. */
async function run(line: string, settings: Settings = {}, format: readonly string[] = ['--json']) {
  const { dataDir } = facegate
  const { hostname: HOST, port: PORT } = new URL(facegate.url)
  const own = { DATA_DIR: dataDir, HOST, PORT, PUBLIC_URL: '', MASTER_KEY_FILE: '', MODELS_DIR: '' }
  const database = await databaseSettings(settings['DATA_DIR'] ?? dataDir, {})
  return runCli([...line.split(' '), ...format], { ...own, ...database, ...settings })
}

type FoundProblem = { check: string; severity: string; problem: string; remedy: string }

/** Runs `doctor` and returns its problems. The disk and the age of this installation are not tested. */
async function problemsOf(settings: Settings = {}) {
  const { code, out, err } = await run('doctor', settings)
  const all: FoundProblem[] = JSON.parse(out)
  for (const { remedy, problem } of all) assert.ok(remedy.length > 10 && problem.length > 10)
  const broken = all.filter(({ severity }) => severity === 'repair')
  assert.equal(code, broken.length > 0 ? 1 : 0, err)
  if (broken.length > 0) assert.match(err, /problems must be repaired/u)
  return all.filter(({ check }) => check !== 'diskLow')
}

/** Returns the problem of a check that is found with these settings, and only with them. */
async function problemOf(check: string, settings: Settings) {
  const [found, ...others] = (await problemsOf(settings)).filter((each) => each.check === check)
  assert.ok(found, check)
  assert.deepEqual(others, [])
  return found
}

async function openDisposable(): Promise<Store & AsyncDisposable> {
  const store = await openTestStore(facegate.dataDir)
  return { ...store, [Symbol.asyncDispose]: store.close }
}

const checksOf = async (settings?: Settings) =>
  (await problemsOf(settings)).map(({ check, severity }) => `${severity} ${check}`)

test('status shows the service, the database and its content, and exits with 0', async () => {
  const photograph = await samplePhotograph(1)
  const enrolled = await facegate.run('svc.enroll', photograph, { facePolicy: 'largest' })
  assert.ok(enrolled.body.ok)
  const { code, out } = await run('status')
  assert.equal(code, 0)
  const state = JSON.parse(out)
  assert.deepEqual([state.address, state.service.status], [facegate.url, 200])
  assert.equal(state.database.kind, isOnPostgres() ? 'postgres' : 'sqlite')
  const { accounts, projects, keys, subjects, templates } = state.database.rows
  assert.deepEqual([accounts, projects, keys, subjects, templates], [1, 1, 1, 1, 1])
  assert.ok(state.freeBytes > 0)
  assert.match(state.models[0], /^builtin\/blazeface@\d+: detector$/u)
  const text = await runCli(['status'], { DATA_DIR: path.join(folder, 'none'), PORT: '1' })
  assert.equal(text.code, 0)
  assert.match(text.out, /\ndatabase +there is no database in .*\n/u)
  assert.match(text.out, /\nproblems +facegate doctor prints the remedies\n/u)
})

test('doctor reports only a missing backup and the place of the master key of a new installation', async () => {
  const backup = isOnPostgres() ? [] : ['warning backup', 'warning folders']
  assert.deepEqual(await checksOf(), backup)
  const { dataDir } = facegate
  await using store = await openDisposable()
  const separate = path.join(folder, 'separate.key')
  await copyFile(path.join(dataDir, 'master.key'), separate)
  await chmod(separate, 0o600)
  const settings = { MASTER_KEY_FILE: separate }
  const [account] = await store.db.selectFrom('accounts').select('accountId').execute()
  const entry = { userId: null, userName: 'command line', target: 'copy', detail: '{}', ip: '' }
  const add = (auditAction: string, ageDays: number) =>
    store.write((tx) =>
      addAuditEntry(tx, {
        ...entry,
        auditAction,
        accountId: account?.accountId ?? '',
        atMs: Date.now() - ageDays * 86_400_000,
      }),
    )
  await add('database.backup', 8)
  if (!isOnPostgres()) {
    const { problem } = await problemOf('backup', settings)
    assert.match(problem, /last facegate backup is 8 days old/u)
  }
  await add('masterKey.rotate', 6)
  await add('database.backup', 5)
  assert.deepEqual(await checksOf(settings), [])
  await add('masterKey.rotate', 4)
  if (!isOnPostgres()) {
    const { severity, problem } = await problemOf('backup', settings)
    assert.equal(severity, 'warning')
    assert.match(problem, /backup is older than the rotation of the master key: it cannot be decr/u)
    assert.match((await run('status', settings)).out, /backup is older than the rotation/u)
  }
  await add('database.backup', 3)
  assert.deepEqual(await checksOf(settings), [])
  // A migrated PostgreSQL contains such entries of the former SQLite file.
  const { lastBackupMs } = JSON.parse((await run('status', settings)).out).database
  assert.equal(typeof lastBackupMs, isOnPostgres() ? 'object' : 'number')
  const text = await run('status', settings, [])
  const printed = isOnPostgres() ? 'by the tools of PostgreSQL' : String.raw`\d{4}-\d\d-\d\dT\S+Z`
  assert.match(text.out, new RegExp(`^backup +${printed}$`, 'mu'))
})

test('doctor finds a missing, foreign or readable master key', async () => {
  const missing = await problemOf('masterKey', { MASTER_KEY_FILE: path.join(folder, 'none.key') })
  assert.match(missing.problem, /there is no master key in .*: restore the file from its copy, or/u)
  assert.equal(missing.severity, 'repair')
  const foreign = path.join(folder, 'foreign.key')
  await writeFile(foreign, `other ${Buffer.alloc(32).toString('base64')}\n`, { mode: 0o600 })
  const { problem } = await problemOf('masterKey', { MASTER_KEY_FILE: foreign })
  assert.match(problem, /master key .* is not in/u)
  await chmod(foreign, 0o644)
  const exposed = await problemOf('masterKey', { MASTER_KEY_FILE: foreign })
  assert.match(exposed.problem, /others may read the master key: run chmod 600/u)
  await using store = await openDisposable()
  const currentId = await store.read(findCurrentMasterKeyId)
  await store.write((tx) => storeCurrentMasterKeyId(tx, 'newer'))
  const outdated = await problemOf('masterKey', {})
  assert.match(outdated.problem, /does not contain newer, the current master key of the database/u)
  await store.write((tx) => storeCurrentMasterKeyId(tx, currentId))
})

test('doctor finds a folder that all users may write', async () => {
  const open = path.join(folder, 'open')
  await mkdir(open)
  await copyFile(path.join(facegate.dataDir, 'master.key'), path.join(open, 'k'))
  await chmod(path.join(open, 'k'), 0o600)
  await chmod(open, 0o777)
  const { problem } = await problemOf('folders', { MASTER_KEY_FILE: path.join(open, 'k') })
  assert.match(problem, new RegExp(`run chmod 700 ${open}$`, 'u'))
})

test('doctor finds a folder without a database', { skip: isOnPostgres() }, async () => {
  const { severity, problem } = await problemOf('database', { DATA_DIR: path.join(folder, 'no') })
  assert.equal(severity, 'repair')
  assert.match(problem, /there is no database in .*; start the service once/u)
})

test('doctor finds a database that other users may read', { skip: isOnPostgres() }, async (t) => {
  const dataDir = await createDataFolder()
  t.after(() => rm(dataDir, { recursive: true }))
  await chmod(path.join(dataDir, 'facegate.db'), 0o644)
  const { problem } = await problemOf('database', { DATA_DIR: dataDir })
  assert.match(problem, /others may read the database: run chmod 600/u)
})

test('doctor finds damaged model files, built-in and installed', async () => {
  const models = path.join(folder, 'models')
  const pack = path.join(models, 'packs', 'mine')
  await mkdir(models)
  const settings = { MODELS_DIR: models }
  const modelChecks = async () =>
    (await problemsOf(settings)).filter(({ check }) => check.toLowerCase().includes('models'))
  const sha256 = sha256Of(smallNetwork(2))
  await writePack(pack, manifestOf('mine', [smallLiveness('net', { sha256 })]), {
    'net.onnx': smallNetwork(3),
  })
  await writeFile(path.join(models, builtinPack.models.blazeface.artifact.file), 'damaged')
  const [builtin, installed, ...others] = await modelChecks()
  assert.deepEqual(others, [])
  assert.deepEqual([builtin?.severity, builtin?.check], ['repair', 'builtinModels'])
  assert.deepEqual([installed?.severity, installed?.check], ['repair', 'models'])
  assert.match(installed?.problem ?? '', /^mine\/net: the model .*net\.onnx was altered/u)
  await rename(pack, `${pack}-moved`)
  await writeFile(path.join(models, 'active.json'), '{}')
  assert.match((await modelChecks()).at(-1)?.problem ?? '', /not a valid model selection/u)
})

test('doctor finds a service that is not running or not ready, and a wrong PUBLIC_URL', async (t) => {
  const PORT = String(await freePort())
  const stopped = await problemOf('service', { PORT })
  assert.deepEqual(
    [stopped.severity, stopped.problem],
    ['warning', `http://127.0.0.1:${PORT}: no service listens there`],
  )
  const other = createServer((_request, response) => {
    response.writeHead(503).end(JSON.stringify({ detail: 'no vision worker is running' }))
  }).listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.after(() => other.close())
  const { port } = other.address() as AddressInfo
  const unready = await problemOf('readiness', { PORT: String(port) })
  assert.equal(unready.severity, 'repair')
  assert.match(unready.remedy, /the service runs; correct what it reports .* full disk/u)
  assert.match(unready.problem, /HTTP 503 no vision worker is running/u)
  const wrong = await problemOf('publicUrl', { PUBLIC_URL: `http://127.0.0.1:${port}` })
  assert.equal(wrong.severity, 'warning')
  assert.match(wrong.problem, /does not reach the service: HTTP 503/u)
  const right = await problemsOf({ PUBLIC_URL: facegate.url })
  assert.deepEqual(
    right.filter(({ check }) => check === 'publicUrl'),
    [],
  )
})

test('doctor reports expired keys, empty budgets, failing webhooks and a full disk as the console does', async () => {
  await using store = await openDisposable()
  const { db } = store
  const [project] = JSON.parse((await run('project list')).out)
  for (const create of [
    'key create --name old --expires 5d',
    'webhook create --url https://webhook.invalid',
  ])
    assert.equal((await run(`${create} --project ${project.projectId}`)).code, 0)
  const failingSinceMs = Date.now() - 7_200_000
  await db.updateTable('webhooks').set({ failingSinceMs }).execute()
  const added = async () =>
    (await checksOf()).filter((check) => !/backup|folders/u.test(check)).toSorted()
  assert.deepEqual(await added(), ['warning keyExpiring', 'warning webhookFailing'])
  const past = new Date(Date.now() - 60_000).toISOString()
  await db.updateTable('keys').set({ expiresAtUtc: past }).where('name', '=', 'old').execute()
  assert.deepEqual(await added(), ['repair keyExpired', 'warning webhookFailing'])
  await db.deleteFrom('keys').where('name', '=', 'old').execute()
  const [full, low, enough] = [0.5, 2, 6].map(
    (gib) => diskAlerts({ freeBytes: gib * 1024 ** 3 })[0]?.severity,
  )
  assert.deepEqual([full, low, enough], ['critical', 'warning', undefined])
})

test('doctor warns of a version of Node before 24', () => {
  assert.deepEqual(
    ['22.18.0', '24.0.0', '25.1.0'].map((version) => findRuntimeProblems(version).length),
    [1, 0, 0],
  )
})

test('open prints the address of the console, and a setup link while it has no user', async () => {
  const first = JSON.parse((await run('open')).out)
  assert.ok(first.isSetupLink)
  const token = new URL(first.address).hash.slice(1)
  const client = createConsoleClient(facegate.url)
  const setUp = { token, name: 'Olga', password: validPassword }
  assertOk(await client.send('POST', '/setup', setUp))
  const opened = await run('open')
  assert.equal(opened.err, '')
  assert.deepEqual(JSON.parse(opened.out), { address: `${facegate.url}/`, isSetupLink: false })
  const PUBLIC_URL = 'https://faces.example.org'
  const { address } = JSON.parse((await run('open', { PUBLIC_URL })).out)
  assert.equal(address, `${PUBLIC_URL}/`)
  const PORT = String(await freePort())
  const stopped = await run('open', { PORT, HOST: '::1' })
  assert.equal(JSON.parse(stopped.out).address, `http://[::1]:${PORT}/`)
  assert.match(stopped.err, /does not answer: .*; run facegate serve\n$/u)
})

test('the text of doctor has a remedy below each problem', async () => {
  const settings = { DATA_DIR: path.join(folder, 'no'), DATABASE_URL: '', PORT: '1' }
  const { code, out } = await runCli(['doctor'], settings)
  assert.equal(code, 1)
  for (const [index, line] of out.trim().split('\n').entries())
    assert.match(line, index % 2 === 0 ? /^(?:repair|warning) {2}\S/u : /^ {2}remedy: \S/u)
})
