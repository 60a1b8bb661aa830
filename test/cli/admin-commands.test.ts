import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { after, before, mock, test } from 'node:test'
import { budget } from '../../src/cli/billing/budget.ts'
import { consoleLink } from '../../src/cli/tenancy/console-link.ts'
import { apiKey } from '../../src/cli/tenancy/api-key.ts'
import { ledger } from '../../src/cli/billing/ledger.ts'
import { callLog } from '../../src/cli/call-log.ts'
import { price } from '../../src/cli/billing/price.ts'
import { project } from '../../src/cli/tenancy/project.ts'
import { wallet } from '../../src/cli/billing/wallet.ts'
import { echoRequest, startGate, type TestGate } from '../support/gate/test-gate.ts'
import { cliMainFile } from '../support/paths.ts'

const commands = [project, apiKey, wallet, budget, price, callLog, ledger, consoleLink]

let gate: TestGate
before(async () => {
  gate = await startGate()
})
after(() => gate[Symbol.asyncDispose]())

type CliResult = { readonly code: number; readonly out: string; readonly err: string }

/** Runs a command on the database of the server that runs beside it. */
function runCli(args: string, dataDir = gate.dataDir): Promise<CliResult> {
  const main = cliMainFile
  const env = { ...process.env, DATA_DIR: dataDir }
  return new Promise((resolve) =>
    execFile(process.execPath, [main, ...args.split(' ')], { env }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    ),
  )
}

/** The same in this process, which is faster: what it prints, line by line. */
async function runForLines(line: string): Promise<string[]> {
  process.env['DATA_DIR'] = gate.dataDir
  const [name, ...args] = line.split(' ')
  const printed = mock.method(console, 'log', () => {})
  try {
    await commands.find((command) => command.name === name)?.run(args)
    return printed.mock.calls.map((call) => String(call.arguments[0]))
  } finally {
    printed.mock.restore()
  }
}

async function runForJson(line: string) {
  const [printed = ''] = await runForLines(`${line} --json`)
  return JSON.parse(printed)
}

test('a project is made, funded and used by its key beside a running server', async () => {
  const project = await runForJson('project create kiosk --gallery shared')
  assert.equal(project.name, 'kiosk')
  assert.equal(project.galleryMode, 'shared')
  const minted = await runForJson(
    'key mint --project kiosk --name door --permissions svc.detect,debug',
  )
  assert.deepEqual(minted.permissions, ['svc.detect', 'debug'])
  assert.equal(minted.projectId, project.projectId)
  assert.equal(minted.expiresAtUtc, null)
  const whole = await runForJson(`key mint --project ${project.projectId}`)
  const client = gate.withKey(whole.key)
  assert.equal((await client.post(echoRequest('x'))).body.errors[0].code, 'PAYMENT_REQUIRED')
  await runForJson('wallet top-up --amount 5000')
  assert.deepEqual(await runForJson('budget allocate --project kiosk --amount 3000'), {
    balanceMicros: '3000',
    reservedMicros: '0',
  })
  assert.equal((await client.post(echoRequest('x'))).body.ok, true)
  assert.deepEqual(await runForJson('budget show --project kiosk'), {
    balanceMicros: '2000',
    reservedMicros: '0',
  })
  await runForJson('budget allocate --project kiosk --amount -500')
  assert.equal((await runForJson('wallet show')).balanceMicros, '2500')
  assert.equal((await runForJson('ledger verify')).ok, true)
})

test('limits that are set hold for the next call, and a revoked key is refused', async () => {
  await runForJson('project create busy')
  await runForJson('wallet top-up --amount 9000')
  await runForJson('budget allocate --project busy --amount 9000')
  const { keyId, key } = await runForJson('key mint --project busy')
  const set = await runForJson('project set busy --sustained 1 --burst 1 --gallery shared')
  assert.deepEqual([set.sustainedPerS, set.burst, set.galleryMode], [1, 1, 'shared'])
  const client = gate.withKey(key)
  assert.equal((await client.post(echoRequest('x'))).body.ok, true)
  assert.equal((await client.post(echoRequest('x'))).body.errors[0].code, 'RATE_LIMITED')
  assert.equal((await runForJson('project set busy --burst default')).burst, null)
  assert.equal((await runForJson('project set busy --threshold 0.85')).identifyThreshold, 0.85)
  assert.equal((await runForJson('project set busy --threshold default')).identifyThreshold, null)
  for (const wrong of ['1.5', '-1', 'high'])
    await assert.rejects(runForLines(`project set busy --threshold ${wrong}`), /--threshold/u)
  assert.equal((await runForJson(`key revoke ${keyId}`)).keyId, keyId)
  assert.equal((await client.post(echoRequest('x'))).status, 401)
  const [listed] = await runForJson('key list --project busy')
  assert.equal(listed.state, 'revoked')
  assert.equal(JSON.stringify(listed).includes(key.slice(9, 21)), false)
})

test('a price is the general one until it is set, and names an action that exists', async () => {
  const detect = async () => {
    const prices: { action: string; unitMicros: string }[] = await runForJson('price show')
    return prices.find(({ action }) => action === 'svc.detect')?.unitMicros
  }
  assert.equal(await detect(), '1000')
  assert.equal((await runForJson('price set svc.detect --unit 250')).unitMicros, '250')
  assert.equal(await detect(), '250')
  await runForJson('price set svc.detect --unit 0')
  assert.equal(await detect(), '0')
  for (const wrong of ['svc.nothing --unit 1', 'svc.detect --unit -1', 'svc.detect --unit 1.5', ''])
    await assert.rejects(
      runForLines(`price set ${wrong}`.trim()),
      /none of|no amount|argument|say how/u,
    )
})

test('the log is filtered by key, project, action, code and time, a JSON object a line', async () => {
  const requestId = randomUUID()
  await gate.post(echoRequest('logged', requestId))
  await gate.post(echoRequest('logged', requestId))
  await gate.post({ action: 'a\u001b[31m\nb'.repeat(50), params: {} })
  const rows = async (filter: string) =>
    (await runForLines(`log ${filter} --json`)).map((row) => JSON.parse(row))
  const [odd, replay, first] = await rows('--project default --limit 3')
  assert.deepEqual(
    [first.requestId, first.billed, first.costMicros, first.replay],
    [requestId, true, '1000', false],
  )
  assert.deepEqual(
    [replay.code, replay.billed, replay.costMicros, replay.replay],
    ['OK', false, '0', true],
  )
  assert.equal(odd.code, 'INVALID_REQUEST')
  assert.ok(odd.action.length <= 128)
  assert.equal(/\p{Cc}/u.test(odd.action), false)
  assert.ok(first.latencyMs > 0)
  const failures = await rows('--code INVALID_REQUEST --project default')
  assert.equal(failures.length, 1)
  assert.equal((await rows(`--key ${first.keyId} --action svc.echo`)).length, 2)
  assert.equal((await rows('--from 2099-01-01')).length, 0)
  assert.equal((await rows(`--to ${first.atUtc} --project default`)).length, 0)
  assert.equal((await rows(`--from ${first.atUtc} --project default`)).length, 3)
})

test('bad input is one clear line and an exit code other than 0', async () => {
  const wrong: readonly (readonly [string, RegExp])[] = [
    ['project create', /name one project/u],
    ['project create default', /already/u],
    ['project set default', /what to set/u],
    ['project set default --burst 0', /--burst/u],
    ['project set nowhere --burst 1', /no project nowhere/u],
    ['project create x --gallery open', /isolated or shared/u],
    ['project forget', /none of create/u],
    ['key mint --project default --expires 2026-02-30', /2026-02-30.*calendar/u],
    ['key mint --project default --expires 2020-01-01', /past/u],
    ['key mint --project default --expires soon', /ISO 8601/u],
    ['key mint --project default --permissions svc.typo', /svc\.typo/u],
    ['key mint', /--project/u],
    ['key revoke 00000000-0000-0000-0000-000000000000', /no key/u],
    ['wallet top-up --amount -5', /above 0/u],
    ['wallet top-up --amount 1.5', /1\.5/u],
    ['wallet top-up --amount 9223372036854775808', /9223372036854775808/u],
    ['wallet top-up', /--amount/u],
    ['budget allocate --project default --amount 999999999999', /does not hold/u],
    ['budget allocate --project default --amount 0', /nothing to move/u],
    ['log --limit 0', /--limit/u],
    ['log --from yesterday', /--from/u],
    ['log --colour red', /--colour/u],
    ['ledger verify twice', /twice/u],
  ]
  for (const [line, expected] of wrong)
    await assert.rejects(runForLines(line), (error: Error) => {
      assert.match(error.message, expected, line)
      return !error.message.trim().includes('\n')
    })
  const { code, out, err } = await runCli('wallet top-up --amount ten')
  assert.deepEqual([code, out], [2, ''])
  assert.match(err, /^facegate: [^\n]+\n$/u)
})

test('every command tells how to call it, and none makes a database where there is none', async () => {
  for (const { name, usage } of commands) assert.match(usage, new RegExp(`facegate ${name}`, 'u'))
  const help = await runCli('budget --help')
  assert.equal(help.code, 0)
  assert.match(help.out, /allocate/u)
  const { code, err } = await runCli('wallet show', path.join(gate.dataDir, 'nowhere'))
  assert.equal(code, 1)
  assert.match(err, /start the service once/u)
})

test('ledger verify names a row that was changed, and fails', async () => {
  const { db } = gate.database.store
  await db.transaction().execute(async (transaction) => {
    const { sql } = await import('kysely')
    await sql`drop trigger ledgerTransfers_no_update`.execute(transaction)
    await sql`update ledgerTransfers set atMs = 0 where transferId = 1`.execute(transaction)
  })
  const { code, out, err } = await runCli('ledger verify --json')
  assert.equal(code, 1)
  assert.match(err, /L6, L7/u)
  const { ok, checks } = JSON.parse(out)
  assert.equal(ok, false)
  const broken = checks.filter((check: { ok: boolean }) => !check.ok)
  assert.match(broken[1].detail, /transfer 1 /u)
})

test('console link makes a new link, kept as a hash, and the audit says so', async () => {
  const [first = '', second = ''] = [
    await runForLines('console link'),
    await runForLines('console link'),
  ].flat()
  assert.match(second, /^http:\/\/127\.0\.0\.1:8080\/setup#[\w-]{43}$/u)
  assert.notEqual(first, second)
  const { db } = gate.database.store
  const links = await db.selectFrom('links').selectAll().execute()
  assert.equal(links.length, 1, 'an older link opens nothing any more')
  assert.ok(!second.includes(Buffer.from(links[0]?.tokenHash ?? []).toString('base64url')))
  const acts = await db.selectFrom('adminActs').select(['act', 'userName']).execute()
  assert.deepEqual({ ...acts.at(-1) }, { act: 'session.createSetupLink', userName: 'command line' })
})
