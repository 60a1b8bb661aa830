import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync, randomUUID, sign, verify } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { deletions, masterKeyCommands } from '../../../src/cli/database/commands.ts'
import { tamper } from '../../support/database/tamper.ts'
import { runJson, runLines } from '../../support/cli/run-json.ts'
import { assertOk, startConsole, type TestConsole } from '../../support/console/test-console.ts'
import { imageParams } from '../../support/gallery/test-gallery.ts'

const base64urlBytes = (text: string): Buffer => Buffer.from(text, 'base64url')

/** Enrolls and deletes a subject, and returns the certificate of the deletion. */
async function certify({ gallery, owner }: TestConsole, person = 'Ada') {
  const params = { ...imageParams(person), externalId: `id-${person}`, groups: ['crew', 'staff'] }
  const { subjectId } = await gallery.value('svc.enroll', params)
  const { deletionId } = await gallery.value('svc.deleteSubject', { subjectId })
  const route = `/deletions/${deletionId}/certificate`
  const certificate = assertOk(await owner.send('POST', route)).body
  assert.equal(certificate.statement.subjectId, subjectId)
  return certificate
}

/** Writes a certificate to a file and returns the arguments that verify it. */
async function fileOf({ gallery }: TestConsole, content: unknown): Promise<string> {
  const file = path.join(gallery.dataDir, `${randomUUID()}.json`)
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
  return `verify ${file}`
}

/** Returns a certificate of the same statement with another key. */
function signAgain({ statement }: { readonly statement: unknown }) {
  const pair = generateKeyPairSync('ed25519')
  const { x: publicKey = '' } = pair.publicKey.export({ format: 'jwk' })
  const signature = sign(null, Buffer.from(JSON.stringify(statement)), pair.privateKey)
  return { statement, publicKey, signature: signature.toString('base64url') }
}

/** Asserts that `facegate deletions verify` refuses it with this reason. */
async function assertRefused(
  testConsole: TestConsole,
  content: unknown,
  reason: RegExp,
  option = '',
): Promise<void> {
  const line = `${await fileOf(testConsole, content)}${option}`
  await assert.rejects(runLines(testConsole.gallery.dataDir, deletions, line), reason)
}

test('A certificate of a deletion is verified by the ledger, and without it by the public key', async () => {
  await using testConsole = await startConsole()
  const certificate = await certify(testConsole)
  const { statement, publicKey, signature } = certificate
  assert.deepEqual(
    [statement.externalId, statement.groups, statement.embeddingCount],
    ['id-Ada', ['crew', 'staff'], 1],
  )
  const line = await fileOf(testConsole, JSON.stringify(certificate, undefined, 2))
  const { dataDir } = testConsole.gallery
  const verified = await runJson(dataDir, deletions, line)
  assert.deepEqual(verified, { isInLedger: true, ...certificate })
  assert.match(
    (await runLines(dataDir, deletions, line)).join('\n'),
    /^valid: subject .*\nthe ledger/u,
  )
  const elsewhere = path.join(dataDir, 'no database')
  const offline = await runJson(elsewhere, deletions, `${line} --key=${publicKey}`)
  assert.equal(offline.isInLedger, false)
  // Another program verifies it as the documentation describes.
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' })
  const text = Buffer.from(JSON.stringify(statement))
  assert.ok(verify(null, text, key, base64urlBytes(signature)))

  const again = await certify(testConsole, 'Ben')
  assert.equal(again.publicKey, publicKey, 'an account has one key')
  const { body } = await testConsole.owner.get('/audit')
  assert.equal(body.items[0].action ?? body.items[0].auditAction, 'deletion.certify')
})

test('A public key that begins with a hyphen verifies a certificate in the displayed form', async () => {
  await using testConsole = await startConsole()
  let certificate = signAgain(await certify(testConsole))
  while (!certificate.publicKey.startsWith('-')) certificate = signAgain(certificate)
  const { publicKey } = certificate
  const line = `${await fileOf(testConsole, certificate)} --key=${publicKey}`
  const verified = await runJson(testConsole.gallery.dataDir, deletions, line)
  assert.deepEqual(verified, { isInLedger: false, ...certificate })
})

test('Only administrators of the account of a deletion can certify it', async () => {
  await using testConsole = await startConsole()
  const { statement } = await certify(testConsole)
  const viewer = await testConsole.inviteMember('viewer')
  const own = `/deletions/${statement.deletionId}/certificate`
  assert.equal((await viewer.send('POST', own)).status, 403)
  for (const unknown of [randomUUID(), 'x'])
    assert.equal(
      (await testConsole.owner.send('POST', `/deletions/${unknown}/certificate`)).status,
      404,
    )
})

test('Altered and forged certificates are refused with the reason', async () => {
  await using testConsole = await startConsole()
  const certificate = await certify(testConsole)
  const other = await certify(testConsole, 'Ben')
  const { statement, publicKey } = certificate
  const altered: Readonly<Record<string, unknown>> = {
    issuedAtUtc: '2020-01-01T00:00:00.000Z',
    deletionId: other.statement.deletionId,
    galleryId: randomUUID(),
    subjectId: other.statement.subjectId,
    mergedInto: other.statement.subjectId,
    formerIds: [other.statement.subjectId],
    externalId: null,
    groups: [],
    embeddingCount: 2,
    deletedAtUtc: '2020-01-01T00:00:00.000Z',
    rowHash: other.statement.rowHash,
  }
  const fixed = ['format', 'accountId']
  assert.deepEqual(
    [...fixed, ...Object.keys(altered)].toSorted(),
    Object.keys(statement).toSorted(),
  )
  for (const [name, value] of Object.entries(altered)) {
    const changed = { ...certificate, statement: { ...statement, [name]: value } }
    for (const option of ['', ` --key=${publicKey}`])
      await assertRefused(testConsole, changed, /signature is wrong.*changed or forged/u, option)
  }
  await assertRefused(testConsole, { ...certificate, signature: other.signature }, /is wrong/u)
  const forged = signAgain(certificate)
  await assertRefused(testConsole, forged, /is signed with [\w-]{43}, not with [\w-]{43}$/u)
  await assertRefused(testConsole, forged, /not with/u, ` --key=${publicKey}`)
  const foreign = { ...certificate, statement: { ...statement, accountId: randomUUID() } }
  await assertRefused(testConsole, foreign, /has no certificate key here; pass --key/u)
  await assertRefused(testConsole, '{', /is not a deletion certificate: /u)
  const { deletedAtUtc: _removed, ...incomplete } = statement
  const missing = /certificate\.statement\.deletedAtUtc: missing/u
  await assertRefused(testConsole, { ...certificate, statement: incomplete }, missing)
  const format = { ...certificate, statement: { ...statement, format: 'other' } }
  await assertRefused(testConsole, format, /certificate\.statement\.format: /u)
})

test('A certificate is refused if the ledger was changed, or the subject is enrolled again', async () => {
  await using testConsole = await startConsole()
  const { gallery } = testConsole
  const certificate = await certify(testConsole)
  const { deletionId, subjectId } = certificate.statement
  const { subjectId: ben } = await gallery.value('svc.enroll', imageParams('Ben'))
  const rename = (from: string, to: string) =>
    tamper(
      gallery.dataDir,
      `insert into subjects select '${to}', ${restOfSubject} from subjects where "subjectId" = '${from}'`,
    )
  await rename(ben, subjectId)
  const again = /is enrolled again; run facegate deletions replay/u
  await assertRefused(testConsole, certificate, again)
  await tamper(gallery.dataDir, `delete from subjects where "subjectId" = '${subjectId}'`)
  await tamper(gallery.dataDir, `update deletions set "embeddingCount" = 9`)
  const different = /embeddingCount of the deletion record \S+ is different in the ledger/u
  await assertRefused(testConsole, certificate, different)
  await tamper(gallery.dataDir, `delete from deletions where "deletionId" = '${deletionId}'`)
  await assertRefused(testConsole, certificate, /the ledger has no deletion record/u)
})

/** The columns of a subject after its id, without its external id, which is unique. */
const restOfSubject =
  `"galleryId", "projectId", null, "displayName", attributes, "keyId", "wrappedKey", ` +
  `"createdAtUtc", "updatedAtUtc", "expiresAtUtc", "lastSeenAtUtc", "searchText", ` +
  `"withoutFaces", "needsNewKey", "hasDenials", "formerIds", "visitCount", "isIgnored"`

test('A rotation of the master key keeps the key of certificates', async () => {
  await using testConsole = await startConsole()
  const before = await certify(testConsole)
  const rotate = masterKeyCommands.find(({ name }) => name === 'rotate-master')
  assert.ok(rotate)
  const { store } = testConsole.gallery.database
  const masterKeyOf = async () =>
    (await store.db.selectFrom('certificateKeys').select('masterKeyId').execute())[0]?.masterKeyId
  const masterKeyId = await masterKeyOf()
  await runLines(testConsole.gallery.dataDir, rotate, '')
  assert.notEqual(await masterKeyOf(), masterKeyId)
  const after = await certify(testConsole, 'Ben')
  assert.equal(after.publicKey, before.publicKey)
  for (const certificate of [before, after]) {
    const line = await fileOf(testConsole, certificate)
    assert.ok((await runJson(testConsole.gallery.dataDir, deletions, line)).isInLedger)
  }
})
