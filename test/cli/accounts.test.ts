import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { accountCommands } from '../../src/cli/account/commands.ts'
import { budget, price, wallet } from '../../src/cli/billing/commands.ts'
import { consoleLink, keyCommands, project } from '../../src/cli/tenancy/commands.ts'
import { createLineRunner } from '../support/cli/run-json.ts'
import { startGate, type TestGate } from '../support/gate/test-gate.ts'

const commands = [accountCommands, project, keyCommands, wallet, budget, price, consoleLink]

let gate: TestGate
before(async () => {
  gate = await startGate()
})
after(() => gate[Symbol.asyncDispose]())

const { runForLines, runForJson } = createLineRunner(commands, () => gate.dataDir)

test('a second account has its own wallet, prices, projects and owner', async () => {
  const walletBefore = await runForJson('wallet show')
  const { accountId } = await runForJson('account create warehouse')
  await runForJson('wallet top-up --amount 700 --account warehouse')
  await runForJson('price set svc.detect --unit 9 --account warehouse')
  const { projectId } = await runForJson('project create dock --account warehouse')
  await runForJson(`budget allocate --project ${projectId} --amount 200`)
  const shown = await runForJson(`wallet show --account ${accountId}`)
  assert.equal(shown.balanceMicros, '500')
  assert.deepEqual(await runForJson('wallet show'), walletBefore, 'the oldest account is unchanged')
  const priceOf = async (line: string) =>
    (await runForJson(line)).find(({ action }: { action: string }) => action === 'svc.detect')
  assert.equal((await priceOf('price show --account warehouse')).unitMicros, '9')
  assert.notEqual((await priceOf('price show')).unitMicros, '9')
  const { link } = await runForJson('console link --account warehouse --user olga')
  assert.match(link, /\/setup\?name=olga#/u)
  const again = await runForJson('console link --account warehouse --user Olga')
  assert.match(again.link, /\/setup\?name=olga#/u)
  assert.notEqual(again.link, link, 'the owner lost the password')
  await assert.rejects(
    runForLines('console link --account default --user olga'),
    /name olga already exists/u,
    'the owner of another account',
  )
  const entries = await gate.database.store.db
    .selectFrom('auditLog')
    .select('auditAction')
    .where('accountId', '=', accountId)
    .where('auditAction', 'in', ['user.invite', 'session.createSetupLink'])
    .orderBy('auditId')
    .execute()
  assert.deepEqual(
    entries.map(({ auditAction }) => auditAction),
    ['user.invite', 'session.createSetupLink'],
  )
  const listed = await runForJson('account list')
  assert.deepEqual(
    listed.map((account: { name: string; state: string }) => [account.name, account.state]),
    [
      ['default', 'active'],
      ['warehouse', 'active'],
    ],
  )
  const key = await runForJson(`key create --project ${projectId}`)
  const routes = await runForJson('key routes --to b --account warehouse')
  const sha256 = createHash('sha256').update(key.key).digest('hex')
  assert.deepEqual(routes, [{ keyId: key.keyId, accountId, sha256, to: 'b' }])
  const others = (await runForLines('key routes --to b')).join('\n')
  assert.ok(others.includes(`${sha256} b`) && others.split('\n').length > 1)
})

test('an account or project of which there are several is named by its id', async () => {
  const { accountId } = await runForJson('account create default')
  await assert.rejects(runForLines('wallet show --account default'), /2 accounts have the name/u)
  await assert.rejects(runForLines('wallet show --account none'), /no account none/u)
  await assert.rejects(runForLines(`console link --account ${accountId}`), /pass both or none/u)
  const move = `account move ${accountId} --to postgres://facegate@localhost/other`
  await assert.rejects(runForLines(move), /migrate this one first: facegate migrate/u)
})
