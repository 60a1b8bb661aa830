import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { budget, ledger, price, wallet } from '../../src/cli/billing/commands.ts'
import { consoleLink, keyCommands, project } from '../../src/cli/tenancy/commands.ts'
import { callLog } from '../../src/cli/call-log/commands.ts'
import { runCli } from '../support/cli/run-cli.ts'
import { createLineRunner } from '../support/cli/run-json.ts'
import { echoRequest, startGate, type TestGate } from '../support/gate/test-gate.ts'
import { createTestSteadyClock } from '../support/gate/test-steady-clock.ts'

const commands = [project, keyCommands, wallet, budget, price, callLog, ledger, consoleLink]

let gate: TestGate
before(async () => {
  gate = await startGate({ wrapStore: createTestSteadyClock().wrapStore })
})
after(() => gate[Symbol.asyncDispose]())

const { runForLines, runForJson } = createLineRunner(commands, () => gate.dataDir)

test('a project is created, funded and used with its key while the server runs', async () => {
  const project = await runForJson('project create kiosk --gallery shared')
  assert.equal(project.name, 'kiosk')
  assert.equal(project.galleryMode, 'shared')
  const limited = await runForJson(
    'key create --project kiosk --name door --permissions svc.detect,debug',
  )
  assert.deepEqual(limited.permissions, ['svc.detect', 'debug'])
  assert.equal(limited.projectId, project.projectId)
  assert.ok(Math.abs(daysUntil(limited.expiresAtUtc) - 365) < 1)
  const unlimited = await runForJson(`key create --project ${project.projectId}`)
  const client = gate.withKey(unlimited.key)
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

const daysUntil = (utc: string): number => (Date.parse(utc) - Date.now()) / 86_400_000

test('a key expires after a duration, at a date or never, and by default after a year', async () => {
  const expiryOf = async (option: string) =>
    (await runForJson(`key create --project default ${option}`)).expiresAtUtc
  for (const [option, days] of [
    ['--expires 48h', 2],
    ['--expires 90d', 90],
    ['--expires 4w', 28],
    ['--expires 2y', 730],
  ] as const)
    assert.ok(Math.abs(daysUntil(await expiryOf(option)) - days) < 0.1, option)
  assert.equal(await expiryOf('--expires 2999-01-31'), '2999-01-31T00:00:00.000Z')
  assert.equal(await expiryOf('--expires never'), null)
  const printed = async (option: string) =>
    (await runForLines(`key create --project default ${option}`.trim())).join(' ')
  assert.match(
    await printed(''),
    /it expires at \d{4}-.*\(--expires sets another time, or never\)/u,
  )
  assert.match(await printed('--expires never'), /it never expires/u)
  const [first] = await runForJson('key list --project default')
  assert.equal(first.name, 'first key')
  assert.ok(Math.abs(daysUntil(first.expiresAtUtc) - 365) < 1)
})

test('with billing off, calls are metered without a budget, from the next call', async () => {
  const free = await runForJson('project create free --billing off')
  assert.equal(free.switches.billing, false)
  const client = gate.withKey((await runForJson('key create --project free')).key)
  assert.equal((await client.post(echoRequest('x'))).body.ok, true)
  const [entry] = await runForLines('log --project free --json')
  const { billed, costMicros, meteredMicros } = JSON.parse(entry ?? '')
  assert.deepEqual([billed, costMicros, meteredMicros], [false, '0', '1000'])
  assert.match((await runForLines('log --project free')).join(' '), /\(0\.001 USD\)/u)
  assert.equal((await runForJson('project set free --billing on')).switches.billing, true)
  assert.equal((await client.post(echoRequest('x'))).body.errors[0].code, 'PAYMENT_REQUIRED')
  await assert.rejects(runForLines('project set free --billing no'), /--billing must be on or off/u)
  assert.equal((await runForJson('ledger verify')).ok, true)
})

test('changed limits apply to the next call, and a revoked key is rejected', async () => {
  await runForJson('project create busy')
  await runForJson('wallet top-up --amount 9000')
  await runForJson('budget allocate --project busy --amount 9000')
  const { keyId, key } = await runForJson('key create --project busy')
  const changed = await runForJson('project set busy --sustained 1 --burst 1 --gallery shared')
  assert.deepEqual([changed.sustainedPerS, changed.burst, changed.galleryMode], [1, 1, 'shared'])
  const client = gate.withKey(key)
  assert.equal((await client.post(echoRequest('x'))).body.ok, true)
  assert.equal((await client.post(echoRequest('x'))).body.errors[0].code, 'RATE_LIMITED')
  assert.equal((await runForJson('project set busy --burst default')).burst, null)
  assert.equal((await runForJson('project set busy --threshold 0.85')).identifyThreshold, 0.85)
  assert.equal((await runForJson('project set busy --threshold default')).identifyThreshold, null)
  for (const invalid of ['1.5', '-1', 'high'])
    await assert.rejects(runForLines(`project set busy --threshold ${invalid}`), /--threshold/u)
  assert.equal((await runForJson(`key revoke ${keyId}`)).keyId, keyId)
  assert.equal((await client.post(echoRequest('x'))).status, 401)
  const [listed] = await runForJson('key list --project busy')
  assert.equal(listed.state, 'revoked')
  assert.equal(JSON.stringify(listed).includes(key.slice(9, 21)), false)
})

test('an action has the default price until its price is set; unknown actions are rejected', async () => {
  const detect = async () => {
    const prices: { action: string; unitMicros: string }[] = await runForJson('price show')
    return prices.find(({ action }) => action === 'svc.detect')?.unitMicros
  }
  assert.equal(await detect(), '1000')
  assert.equal((await runForJson('price set svc.detect --unit 250')).unitMicros, '250')
  assert.equal(await detect(), '250')
  await runForJson('price set svc.detect --unit 0')
  assert.equal(await detect(), '0')
  for (const [invalid, expected] of [
    ['svc.detct --unit 1', /<action>: svc\.detct is not valid; did you mean svc\.detect\?$/u],
    ['svc.nothing --unit 1', /svc\.nothing is not valid; use svc\.analyze, .* or svc\.verify/u],
    [
      'svc.detect --unit -1',
      /--unit must be a whole number of micros of up to 12 digits, 0 or more, not -1$/u,
    ],
    ['svc.detect --unit 1000000000000', /must be a whole number of micros of up to 12 digits/u],
    ['svc.detect --unit 1.5', /--unit: 1\.5 is not an integer/u],
    ['svc.detect', /--unit was not given; pass --unit <micros>: the price of one unit$/u],
    ['', /<action> was not given: name of the action/u],
  ] as const)
    await assert.rejects(runForLines(`price set ${invalid}`.trim()), expected)
})

test('a rotated key keeps its id; its former secret works until the end of the overlap', async () => {
  await runForJson('project create gatehouse --billing off')
  const { keyId, key } = await runForJson('key create --project gatehouse')
  const rotated = await runForJson(`key rotate ${keyId} --overlap 1h`)
  assert.equal(rotated.keyId, keyId)
  const hours = daysUntil(rotated.formerEndsAtUtc) * 24
  assert.ok(hours > 0.9 && hours <= 1)
  for (const secret of [key, rotated.key])
    assert.equal((await gate.withKey(secret).post(echoRequest('x'))).body.ok, true)
  const listed = (await runForLines('key list --project gatehouse')).join('\n')
  assert.match(listed, new RegExp(`${keyId}.*active; …${key.slice(-4)} until 20`, 'u'))
  const lines = (await runForLines(`key rotate ${keyId} --overlap 0`)).join(' ')
  assert.match(lines, /once; the former secret is no longer valid$/u)
  for (const secret of [key, rotated.key])
    assert.equal((await gate.withKey(secret).post(echoRequest('x'))).status, 401)
  await runForLines(`key revoke ${keyId}`)
  await assert.rejects(runForLines(`key rotate ${keyId}`), /is revoked; create a new key/u)
})

test('the log is filtered by key, project, action, code and time, one JSON object per line', async () => {
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
  assert.equal((await rows(`--key ${first.keyId} --code OK`)).length, 2)
  assert.equal((await rows(`--key ${first.keyId} --action svc.detect`)).length, 0)
  assert.equal((await rows('--from 2099-01-01')).length, 0)
  assert.equal((await rows(`--to ${first.atUtc} --project default`)).length, 0)
  assert.equal((await rows(`--from ${first.atUtc} --project default`)).length, 3)
})

test('invalid input gives one clear line and an exit code other than 0', async () => {
  const invalid: readonly (readonly [string, RegExp])[] = [
    ['project create', /<name> was not given: name of the new project$/u],
    ['project create default', /exists already/u],
    ['project create de\u200Bfault', /without invisible characters/u],
    ['key create --project default --name door\u202E', /without invisible characters/u],
    ['project set default', /nothing to set/u],
    ['project set default --burst 0', /--burst/u],
    ['project set nowhere --burst 1', /no project nowhere/u],
    ['project create x --gallery open', /isolated or shared/u],
    [
      'project forget',
      /forget is not a command of facegate project; use one of create, list, show, set/u,
    ],
    [
      'key create --project default --expires 2026-02-30',
      /2026-02-30 is a date that does not exist/u,
    ],
    ['key create --project default --expires 2020-01-01', /in the past/u],
    ['key create --project default --expires soon', /90d.*ISO 8601.*never/u],
    ['key create --project default --expires 0d', /must be a duration/u],
    ['key create --project default --permissions svc.typo', /svc\.typo is not valid; use svc/u],
    ['log --action svc.dtect', /svc\.dtect is not valid; did you mean svc\.detect\?/u],
    ['log --action svc.echo', /svc\.echo is not valid; use svc\.analyze/u],
    ['log --code NO_FACES_FOUND', /NO_FACES_FOUND is not valid; did you mean NO_FACE_FOUND\?/u],
    ['log --code HTTP_5', /HTTP_5 is not valid; use OK, EXPIRED/u],
    ['log --limit 1 --limit 2', /--limit was given more than once/u],
    ['log --limit --json', /--limit has no value before --json; pass --limit <n>/u],
    ['log --json=yes', /--json has no value; pass --json alone/u],
    ['key create', /--project/u],
    ['key revoke 00000000-0000-0000-0000-000000000000', /no key/u],
    ['key rotate 00000000-0000-0000-0000-000000000000', /no key/u],
    ['key rotate x --overlap 2h', /0, 1h, 24h/u],
    ['wallet top-up --amount -5', /above 0/u],
    ['wallet top-up --amount 1.5', /1\.5/u],
    ['wallet top-up --amount 9223372036854775808', /9223372036854775808/u],
    ['wallet top-up', /--amount/u],
    [
      'budget allocate --project default --amount 999999999999',
      /The wallet has less than 999\u202F999\.999999 USD\. Top up the wallet/u,
    ],
    [
      'budget allocate --project default --amount 0',
      /--amount must be a whole number of micros other than 0, not 0/u,
    ],
    ['log --limit 0', /--limit/u],
    ['log --from yesterday', /--from/u],
    ['log --colour red', /--colour/u],
    ['ledger verify twice', /twice/u],
  ]
  for (const [line, expected] of invalid)
    await assert.rejects(runForLines(line), (error: Error) => {
      assert.match(error.message, expected, line)
      return !error.message.trim().includes('\n')
    })
  const { code, out, err } = await runCli(['wallet', 'top-up', '--amount', 'ten'], {
    DATA_DIR: gate.dataDir,
  })
  assert.deepEqual([code, out], [2, ''])
  assert.match(err, /^facegate: [^\n]+\n$/u)
})

test('a command creates no database', async () => {
  const noDatabase = { DATA_DIR: path.join(gate.dataDir, 'nowhere') }
  const [help, wallet] = await Promise.all([
    runCli(['budget', '--help'], { DATA_DIR: gate.dataDir }),
    runCli(['wallet', 'show'], noDatabase),
  ])
  assert.equal(help.code, 0)
  assert.match(help.out, /allocate/u)
  assert.equal(wallet.code, 1)
  assert.match(wallet.err, /start the service once/u)
})

test('ledger verify reports a changed row and fails', async () => {
  const { db } = gate.database.store
  await db.transaction().execute(async (transaction) => {
    const { sql } = await import('kysely')
    await sql`drop trigger ledgerTransfers_no_update`.execute(transaction)
    await sql`update ledgerTransfers set atMs = 0 where transferId = 1`.execute(transaction)
  })
  const { code, out, err } = await runCli(['ledger', 'verify', '--json'], {
    DATA_DIR: gate.dataDir,
  })
  assert.equal(code, 1)
  assert.match(err, /L6, L7/u)
  const { ok, checks } = JSON.parse(out)
  assert.equal(ok, false)
  const broken = checks.filter((check: { ok: boolean }) => !check.ok)
  assert.match(broken[1].detail, /transfer 1 /u)
})

test('console link creates a new link, stores only its hash, and is recorded in the audit log', async () => {
  const [first = '', second = ''] = [
    await runForLines('console link'),
    await runForLines('console link'),
  ].flat()
  assert.match(second, /^http:\/\/127\.0\.0\.1:8080\/setup#[\w-]{43}$/u)
  assert.notEqual(first, second)
  const { db } = gate.database.store
  const links = await db.selectFrom('links').selectAll().execute()
  assert.equal(links.length, 1, 'the earlier link is invalid')
  assert.ok(!second.includes(Buffer.from(links[0]?.tokenHash ?? []).toString('base64url')))
  const entries = await db.selectFrom('auditLog').select(['auditAction', 'userName']).execute()
  assert.deepEqual(
    { ...entries.at(-1) },
    { auditAction: 'session.createSetupLink', userName: 'command line' },
  )
})
