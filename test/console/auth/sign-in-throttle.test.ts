import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createPasswordHasher,
  type PasswordHasher,
  createPasswordQueue,
} from '../../../src/console/auth/password-hasher.ts'
import { isOnPostgres } from '../../support/database/engine.ts'
import { validPassword, assertOk, startConsole } from '../../support/console/test-console.ts'

const minuteMs = 60_000

/** Each sends 50 wrong passwords. The throttle is in memory, whatever the database. */
const rounds = isOnPostgres() ? 2 : 20

/** The clock of tests in which no time passes, however long the machine takes. */
const startMs = Date.now()

test('Failed sign-ins from many addresses are throttled and do not lock out the user', async () => {
  let nowMs = Date.now()
  await using testConsole = await startConsole({
    clock: () => nowMs,
    environment: { TRUST_PROXY: '1', AUTH_FAILURES_BURST: '100000' },
  })
  const { url } = testConsole
  const guest = testConsole.newClient()
  const guess = (name: string, password: string, ip: string) =>
    guest.raw('POST', '/sign-in', { origin: url, 'x-forwarded-for': ip }, { name, password })
  const knownName = await guess('Olga', 'wrong', '10.0.0.1')
  const unknownName = await guess('Unknown', 'wrong', '10.0.0.2')
  assert.equal(knownName.status, 401)
  assert.deepEqual(knownName.body, unknownName.body)
  const guessAtOnce = (count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        guess('Olga', `guess ${index}`, `10.1.${index % 50}.1`),
      ),
    )
  // One attempt of each of 50 networks: afterwards the name is under attack, and each of them waits.
  const first = await guessAtOnce(50)
  assert.ok(first.every(({ status }) => status === 401))
  const responses: typeof first = []
  for (let round = 0; round < rounds; round++) responses.push(...(await guessAtOnce(50)))
  assert.deepEqual([...new Set(responses.map(({ status }) => status))], [429])
  const [throttled] = responses
  assert.ok(Number(throttled?.headers.get('retry-after')) >= 1)
  // Olga set her password from 127.0.0.1: known addresses are not throttled.
  const credentials = { name: 'Olga', password: validPassword }
  const response = await guest.raw(
    'POST',
    '/sign-in',
    { origin: url, 'x-forwarded-for': '127.0.0.1' },
    credentials,
  )
  assert.equal(response.status, 200, response.text)
  // From other addresses the wait is at most 15 minutes.
  const otherAddress = await guess('Olga', 'wrong', '10.1.7.1')
  nowMs += 15 * minuteMs
  assert.ok([401, 429].includes(otherAddress.status))
  assert.equal((await guess('Olga', validPassword, '10.1.7.1')).status, 200)
})

test('After five wrong passwords from one address the wait doubles with each attempt', async () => {
  let nowMs = Date.now()
  await using testConsole = await startConsole({ clock: () => nowMs })
  const guest = testConsole.newClient()
  const guess = (password: string) =>
    guest.raw('POST', '/sign-in', { origin: testConsole.url }, { name: 'Olga', password })
  for (let count = 0; count < 5; count++) assert.equal((await guess('wrong')).status, 401)
  const waits: number[] = []
  for (let count = 0; count < 4; count++) {
    const throttled = await guess(validPassword)
    assert.equal(throttled.status, 429)
    const waitS = Number(throttled.headers.get('retry-after'))
    waits.push(waitS)
    nowMs += waitS * 1000
    assert.equal((await guess('wrong')).status, 401)
  }
  assert.deepEqual(waits, [1, 2, 4, 8])
})

test('X-Forwarded-For is ignored without TRUST_PROXY', async () => {
  await using testConsole = await startConsole({ clock: () => startMs })
  const guest = testConsole.newClient()
  const guess = (ip: string) =>
    guest.raw(
      'POST',
      '/sign-in',
      { origin: testConsole.url, 'x-forwarded-for': ip },
      { name: 'Olga', password: 'wrong' },
    )
  for (let count = 0; count < 5; count++) assert.equal((await guess(`10.0.0.${count}`)).status, 401)
  assert.equal((await guess('10.0.0.9')).status, 429)
})

/** Creates a hasher with the queue of the service, whose hashes wait while the test holds them. */
function createHeldHasher() {
  const { hash, matches } = createPasswordHasher({ memoryKib: 8, passes: 1, lanes: 1 })
  const queue = createPasswordQueue()
  let held: PromiseWithResolvers<void> | undefined
  const hasher: PasswordHasher = {
    hash,
    matches: (password, stored, source) =>
      queue.enqueue(source, async () => {
        await held?.promise
        return matches(password, stored, source)
      }),
  }
  return {
    hasher,
    hold: () => void (held = Promise.withResolvers()),
    release: () => {
      held?.resolve()
      held = undefined
    },
  }
}

/** Resolves when this number of the promises have resolved. */
async function someOf(promises: readonly Promise<unknown>[], count: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let left = count
  for (const one of promises) void one.then(() => --left === 0 && resolve())
  return promise
}

test('A flood of sign-ins rejects neither a correct password nor counts as its failure', async () => {
  const { hasher, hold, release } = createHeldHasher()
  await using testConsole = await startConsole({
    clock: () => startMs,
    passwordHasher: hasher,
    environment: { TRUST_PROXY: '1', AUTH_FAILURES_BURST: '100000' },
  })
  const { url } = testConsole
  const guest = testConsole.newClient()
  const signIn = (name: string, password: string, ip: string) =>
    guest.raw('POST', '/sign-in', { origin: url, 'x-forwarded-for': ip }, { name, password })
  const flood = (addresses: number) =>
    Array.from({ length: 80 }, (_, index) =>
      signIn(`name ${index}`, 'wrong', `10.2.0.${index % addresses}`),
    )
  // One password is hashed and four of its address wait; the others are rejected.
  hold()
  const fromOneAddress = flood(1)
  await someOf(fromOneAddress, 75)
  const owner = signIn('Olga', validPassword, '10.3.0.1')
  release()
  assert.equal((await owner).status, 200)
  const statuses = (await Promise.all(fromOneAddress)).map(({ status }) => status)
  const checkedCount = statuses.filter((status) => status === 401).length
  assert.equal(checkedCount, 5, 'passwords of one address were checked')
  assert.ok(statuses.every((status) => [401, 503].includes(status)))

  // Olga was active at 10.3.0.1: her password has a separate queue, even if the other one is full.
  hold()
  const fromManyAddresses = flood(80)
  await someOf(fromManyAddresses, 15)
  const known = signIn('Olga', validPassword, '10.3.0.1')
  release()
  assert.equal((await known).status, 200)
  await Promise.all(fromManyAddresses)

  // A full queue rejects a new address with 503. It does not count, however often it happens.
  hold()
  const full = flood(80)
  await someOf(full, 15)
  const rejected = await Promise.all(
    Array.from({ length: 10 }, () => signIn('Olga', validPassword, '10.4.0.1')),
  )
  release()
  for (const { status, headers } of rejected)
    assert.deepEqual([status, headers.get('retry-after')], [503, '2'])
  await Promise.all(full)
  assert.equal((await signIn('Olga', validPassword, '10.4.0.1')).status, 200)
})

test('While a name is under attack, a correct password from a new address is checked at once', async () => {
  await using testConsole = await startConsole({
    clock: () => startMs,
    environment: { TRUST_PROXY: '1', AUTH_FAILURES_BURST: '100000' },
  })
  const { url } = testConsole
  const guest = testConsole.newClient()
  const guess = (password: string, ip: string) =>
    guest.raw(
      'POST',
      '/sign-in',
      { origin: url, 'x-forwarded-for': ip },
      { name: 'Olga', password },
    )
  for (let index = 0; index < 50; index++)
    assert.equal((await guess('wrong', `10.1.0.${index % 25}`)).status, 401)
  assert.equal((await guess('wrong', '10.5.0.1')).status, 401)
  assert.equal((await guess('wrong', '10.5.0.1')).status, 429)
  assert.equal((await guess(validPassword, '10.6.0.1')).status, 200)
})

test('Failed sign-ins are in the audit log, without unknown names, at most 100 an hour', async () => {
  let nowMs = Date.now()
  await using testConsole = await startConsole({
    clock: () => nowMs,
    environment: { TRUST_PROXY: '1', AUTH_FAILURES_BURST: '100000' },
  })
  const { owner, url } = testConsole
  const guest = testConsole.newClient()
  const guess = (name: string, index: number) =>
    guest.raw(
      'POST',
      '/sign-in',
      { origin: url, 'x-forwarded-for': `10.7.${index}.1` },
      { name, password: 'wrong' },
    )
  const entries = async () =>
    (await owner.get('/audit?auditAction=session.signInFailed&limit=200')).body.items
  assert.equal((await guess('Olga', 0)).status, 401)
  assert.equal((await guess('my secret', 1)).status, 401)
  const [unknown, known] = await entries()
  assert.deepEqual(unknown.detail, {})
  assert.equal(unknown.target, 'unknown name')
  const { userId } = (await owner.get('/session')).body.user
  assert.deepEqual([known.target, known.userId], [userId, null])
  assert.deepEqual([known.detail, known.ip], [{ name: 'Olga' }, '10.7.0.1'])
  for (let index = 2; index < 103; index++) await guess(`name ${index}`, index)
  assert.equal((await entries()).length, 100)
  nowMs += 3_600_000
  assertOk(await owner.send('POST', '/sign-in', { name: 'Olga', password: validPassword }))
  await guess('late', 200)
  assert.deepEqual((await entries())[0].detail, { omittedBefore: 3 })

  const wrong = { current: 'no', next: 'another long password' }
  assert.equal((await owner.send('POST', '/password', wrong)).status, 401)
  const failed = (await owner.get('/audit?auditAction=session.changePasswordFailed')).body.items
  assert.deepEqual(
    failed.map(({ target }: { target: string }) => target),
    [userId],
  )
})
