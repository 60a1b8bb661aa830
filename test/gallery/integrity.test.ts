import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditLedger } from '../../src/billing/audit-ledger.ts'
import { tamper } from '../support/database/tamper.ts'
import { startConsole, type TestConsole } from '../support/console/test-console.ts'
import { imageParams, type TestGallery } from '../support/gallery/test-gallery.ts'
import { assertLedgerAudit } from '../support/gate/test-gate.ts'

/** Enrolls and deletes one subject. */
async function addDeletionRecord(gallery: TestGallery, name: string): Promise<void> {
  const { subjectId } = await gallery.value('svc.enroll', imageParams(name))
  await gallery.value('svc.deleteSubject', { subjectId })
}

/** Starts a service with three deletion records, and several audit rows. */
async function startWithChains(): Promise<TestConsole> {
  const testConsole = await startConsole({ environment: { COMPREFACE_API: 'on' } })
  for (const name of ['Ada', 'Ben', 'Cid']) await addDeletionRecord(testConsole.gallery, name)
  await testConsole.inviteMember('viewer')
  await assertLedgerAudit(testConsole.gallery)
  return testConsole
}

/** Returns one line for each broken rule: its name and the violations. */
async function violationsOf({ database }: TestGallery): Promise<string> {
  const checks = await auditLedger(database.store.db, Date.now())
  const broken = checks.filter(({ ok }) => !ok)
  return broken.map(({ name, detail }) => `${name} ${detail}`).join('\n')
}

const lastRows = `
  delete from deletions where seq = (select max(seq) from deletions);
  delete from "auditLog" where "auditId" = (select max("auditId") from "auditLog")`

test('The audit finds deletion records and audit rows that are missing at the end of their chains', async () => {
  await using testConsole = await startWithChains()
  const { gallery, owner } = testConsole
  await tamper(gallery.dataDir, lastRows)
  const violations = await violationsOf(gallery)
  assert.match(
    violations,
    /^L7 .*the deletion records of account \S+ end at number 2 \(deletion \S+\), but the head of their chain is number 3/mu,
  )
  assert.match(violations, /the audit rows of account \S+ end at number \d+ \(audit row \d+\)/u)
  const { body } = await owner.get('/deletions/check')
  assert.equal(body.ok, false)
  assert.match(body.detail, /the deletion records of account \S+ end at number 2/u)

  // New rows do not hide the missing ones.
  await addDeletionRecord(gallery, 'Dan')
  await testConsole.inviteMember('viewer')
  const later = await violationsOf(gallery)
  assert.match(later, /deletion records .* end at number 3 .*, but the head .* is number 4/u)
  assert.match(later, /audit rows of account \S+ end at number/u)
})

test('The audit finds chains of which no row is left, and missing or changed heads', async () => {
  await using testConsole = await startWithChains()
  const { gallery } = testConsole
  const { dataDir } = gallery
  await tamper(
    dataDir,
    'update "chainHeads" set "headHash" = (select "rowHash" from deletions limit 1)',
  )
  assert.match(await violationsOf(gallery), /audit rows .* does not match the head of their chain/u)
  await tamper(dataDir, 'delete from "chainHeads"')
  assert.match(await violationsOf(gallery), /deletion records of account \S+ have no chain head/u)
  await addDeletionRecord(gallery, 'Eva')
  await tamper(dataDir, 'delete from deletions')
  const violations = await violationsOf(gallery)
  assert.match(violations, /the deletion records of account \S+ are missing, but the head/u)
})

/** Creates a subject as a client of CompreFace does, which adds its faces later. */
async function createEmptySubject({ url, key }: TestGallery, subject: string): Promise<void> {
  const response = await fetch(`${url}/api/v1/recognition/subjects`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ subject }),
  })
  assert.equal(response.status, 201)
}

/** Deletes the faces of a subject, and corrects the counts of its gallery. */
const loseFaces = (externalId: string): string => `
  delete from templates where "faceId" in (select "faceId" from faces join subjects
    using ("subjectId") where "externalId" = '${externalId}');
  delete from faces where "subjectId" in
    (select "subjectId" from subjects where "externalId" = '${externalId}');
  update galleries set "templateCount" = "templateCount" - 1`

test('The audit accepts a subject created without a face, and reports a subject that lost its faces', async () => {
  await using testConsole = await startWithChains()
  const { gallery } = testConsole
  const enroll = (externalId: string) =>
    gallery.value('svc.enroll', { ...imageParams(externalId), externalId })
  await createEmptySubject(gallery, 'empty')
  await createEmptySubject(gallery, 'filled later')
  const { subjectId: filledId } = await enroll('filled later')
  const { subjectId: enrolledId } = await enroll('enrolled')
  await assertLedgerAudit(gallery)
  await tamper(gallery.dataDir, loseFaces('filled later'))
  assert.equal(await violationsOf(gallery), `L9 subject ${filledId} has no template`)
  await tamper(gallery.dataDir, loseFaces('enrolled'))
  assert.match(
    await violationsOf(gallery),
    new RegExp(`subject ${enrolledId} has no template`, 'u'),
  )
  await gallery.value('svc.enroll', {
    ...imageParams('enrolled'),
    subjectId: enrolledId,
    duplicateCheck: 'off',
  })
  assert.equal(await violationsOf(gallery), `L9 subject ${filledId} has no template`)
})
