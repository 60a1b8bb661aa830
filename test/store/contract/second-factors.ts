import assert from 'node:assert/strict'
import { queries } from './tracked-queries.ts'
import { assertSameValues, nowMs, nowUtc, type StoreFixture } from './store-fixture.ts'

const wrapped = Buffer.alloc(48, 1)
const [codeA, codeB] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]

/** Adds a user without a password. */
async function addUser({ store, accountId }: StoreFixture, userId: string): Promise<void> {
  const unused = { password: null, lastSeenAtUtc: null, disabledAtUtc: null }
  const user = { userId, accountId, name: userId, role: 'viewer' as const, createdAtUtc: nowUtc }
  await store.runExclusive(({ tx }) => queries.addUser(tx, { ...user, ...unused }))
}

export const secondFactorsContract = {
  'an open link has its creator, and is deleted with the sessions of the creator': async (
    fixture: StoreFixture,
  ) => {
    const { store } = fixture
    await addUser(fixture, 'l1')
    await addUser(fixture, 'l2')
    await store.write(async (tx) => {
      const add = (byte: number, userId: string, creatorId: string | null) => {
        const tokenHash = Buffer.alloc(32, byte)
        const link = { tokenHash, userId, creatorId, expiresAtMs: nowMs + 1 }
        return queries.addInviteLink(tx, link)
      }
      const creatorsAt = async (atMs: number) => {
        const links = await queries.listOpenLinks(tx, atMs)
        return Object.fromEntries(links.map(({ userId, creatorName }) => [userId, creatorName]))
      }
      await add(1, 'l1', 'l2')
      await add(2, 'l2', null)
      assert.deepEqual(await creatorsAt(nowMs), { l1: 'l2', l2: null })
      assert.deepEqual(await creatorsAt(nowMs + 1), {})
      await queries.removeCreatedLinks(tx, 'l1')
      await add(3, 'l2', 'l1')
      assert.deepEqual(await creatorsAt(nowMs), { l1: 'l2', l2: 'l1' })
      await queries.removeCreatedLinks(tx, 'l1')
      assert.deepEqual(await creatorsAt(nowMs), { l1: 'l2' })
      await queries.endUserSessions(tx, 'l2')
      assert.deepEqual(await creatorsAt(nowMs), {})
      await add(4, 'l1', 'l2')
      await add(5, 'l2', null)
      await queries.endUserAccess(tx, 'l2')
      assert.deepEqual(await creatorsAt(nowMs), {})
    })
  },

  'a second factor is confirmed, and each of its codes is used once': async (
    fixture: StoreFixture,
  ) => {
    const { store } = fixture
    await addUser(fixture, 'f1')
    await store.write(async (tx) => {
      await queries.replaceSecondFactor(tx, { userId: 'f1', masterKeyId: 'm1', wrapped })
      await queries.replaceSecondFactor(tx, { userId: 'f1', masterKeyId: 'm2', wrapped })
      await queries.rewrapSecondFactor(tx, 'f1', { masterKeyId: 'm3', wrapped })
      const [factor] = await queries.listSecondFactors(tx)
      const given = { userId: 'f1', masterKeyId: 'm3', wrapped }
      assertSameValues(factor, { ...given, isConfirmed: 0, lastStep: 0 })
      await queries.confirmSecondFactor(tx, 'f1', 100)
      assert.equal((await queries.findSecondFactor(tx, 'f1'))?.isConfirmed, 1)
      assert.equal(await queries.useTimeStep(tx, 'f1', 100), false)
      assert.equal(await queries.useTimeStep(tx, 'f1', 101), true)
      assert.equal(await queries.useTimeStep(tx, 'f1', 101), false)

      await queries.replaceRecoveryCodes(tx, 'f1', [codeB])
      await queries.replaceRecoveryCodes(tx, 'f1', [codeA, codeB])
      assert.equal(await queries.countRecoveryCodes(tx, 'f1'), 2)
      assert.equal(await queries.useRecoveryCode(tx, 'f2', codeA), false)
      assert.equal(await queries.useRecoveryCode(tx, 'f1', codeA), true)
      assert.equal(await queries.useRecoveryCode(tx, 'f1', codeA), false)
      await queries.removeSecondFactor(tx, 'f1')
      assert.equal(await queries.findSecondFactor(tx, 'f1'), undefined)
      assert.equal(await queries.countRecoveryCodes(tx, 'f1'), 0)
    })
  },

  'the key of certificates of an account is stored, and wrapped again': async ({
    store,
    accountId,
  }: StoreFixture) => {
    await store.write(async (tx) => {
      assert.equal(await queries.findCertificateKey(tx, accountId), undefined)
      const key = { accountId, publicKey: 'p', masterKeyId: 'm1', wrapped }
      await queries.storeCertificateKey(tx, key)
      await queries.storeCertificateKey(tx, { ...key, masterKeyId: 'm2' })
      assertSameValues(await queries.listCertificateKeys(tx), [{ ...key, masterKeyId: 'm2' }])
      assert.equal((await queries.findCertificateKey(tx, accountId))?.masterKeyId, 'm2')
    })
  },

  'the sessions of a user are listed, and all but one are ended': async (fixture: StoreFixture) => {
    const { store } = fixture
    await addUser(fixture, 's1')
    const sessionOf = (byte: number) => ({
      tokenHash: Buffer.alloc(32, 100 + byte),
      userId: 's1',
      createdAtMs: nowMs,
      lastSeenAtMs: nowMs + byte,
      ip: '192.0.2.1',
      userAgent: `browser ${byte}`,
    })
    await store.write(async (tx) => {
      for (const byte of [1, 2, 3]) await queries.addSession(tx, sessionOf(byte))
      const listed = await queries.listUserSessions(tx, 's1')
      assertSameValues(listed, [sessionOf(3), sessionOf(2), sessionOf(1)])
      await queries.endOtherSessions(tx, 's1', sessionOf(2).tokenHash)
      assertSameValues(await queries.listUserSessions(tx, 's1'), [sessionOf(2)])
    })
  },
}
