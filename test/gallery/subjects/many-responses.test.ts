import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { subjectCommands, visitorCommands } from '../../../src/cli/subject/commands.ts'
import { project as projectCommands } from '../../../src/cli/tenancy/commands.ts'
import { runAsAllAccounts } from '../../../src/lib/account-context.ts'
import { runJson } from '../../support/cli/run-json.ts'
import { sendCompreFace } from '../../support/compreface/send.ts'
import { assertOk, startConsole, type TestConsole } from '../../support/console/test-console.ts'
import { recordRedactions } from '../../support/database/record-redactions.ts'
import { imageParams } from '../../support/gallery/test-gallery.ts'

/** More than one transaction redacts. */
const responseCount = 250
const perStatementMax = 100

let nowMs = Date.now()
let testConsole: TestConsole
/** The responses that each statement redacted. */
let redacted: number[] = []
let onRedacted = (): void => {}
let recording: ReturnType<typeof recordRedactions>
before(async () => {
  testConsole = await startConsole({ clock: () => nowMs, environment: { COMPREFACE_API: 'on' } })
  const settings = `set ${projectId()} --unknown-people 30`
  await runJson(testConsole.gallery.dataDir, projectCommands, settings)
  recording = recordRedactions((count) => {
    redacted.push(count)
    onRedacted()
  })
})
after(async () => {
  recording.stop()
  await testConsole[Symbol.asyncDispose]()
})

const projectId = () => testConsole.projectId

type Person = { readonly name: string; readonly subjectId: string; readonly faceId: string }

let people = 0

async function enroll(params: object = {}): Promise<Person> {
  const name = `Person ${++people}`
  const value = await testConsole.gallery.value('svc.enroll', {
    ...imageParams(name),
    externalId: `e-${people}`,
    ...params,
  })
  return { name, ...value }
}

async function visit(): Promise<Person> {
  const name = `Person ${++people}`
  const { faces } = await testConsole.gallery.value('svc.identify', imageParams(name))
  return { name, subjectId: faces[0].visitorId, faceId: '' }
}

/** Stores responses that name a subject. */
async function nameInResponses({ subjectId }: Person, count = responseCount, bytes = 0) {
  const { db } = testConsole.gallery.database.store
  const ids = { projectId: projectId(), keyId: 'key' }
  const rows = Array.from({ length: count }, () => ({ ...ids, requestId: randomUUID() }))
  const attempts = rows.map((row) => ({
    ...row,
    action: 'svc.identify',
    fingerprint: Buffer.alloc(32),
    state: 'done' as const,
    token: '',
    reservedMicros: 0n,
    deadlineMs: 0,
    windowStartMs: nowMs,
    code: 'OK',
    response: Buffer.from(subjectId.padEnd(bytes)),
    scrubbed: Buffer.from('no names'),
  }))
  await db.insertInto('attempts').values(attempts).execute()
  const names = rows.map(({ requestId }) => ({ subjectId, projectId: projectId(), requestId }))
  await db.insertInto('responseSubjects').values(names).execute()
}

async function countNamed({ subjectId }: Person): Promise<number> {
  const { db } = testConsole.gallery.database.store
  const { length: named } = await db
    .selectFrom('responseSubjects')
    .select('requestId')
    .where('subjectId', '=', subjectId)
    .execute()
  const stored = await db
    .selectFrom('attempts')
    .select('requestId')
    .where('response', '=', Buffer.from(subjectId))
    .execute()
  return named + stored.length
}

const ok = async (response: Promise<{ readonly status: number; readonly body: unknown }>) => {
  const { status, body } = await response
  assert.equal(status, 200, JSON.stringify(body))
}
const rest = (method: string, path: string, body?: unknown) =>
  ok(testConsole.gallery.rest(method, path, body))
const compreFace = (method: string, path: string, body?: object) =>
  ok(sendCompreFace(testConsole.gallery, method, `/api/v1/recognition${path}`, body))
const pageRequest = async (method: string, path: string, body?: unknown) =>
  void assertOk(await testConsole.owner.send(method, `/projects/${projectId()}${path}`, body))
const confirm = ({ subjectId }: Person) => subjectId.slice(0, 8)
const runCommand = (commands: Parameters<typeof runJson>[1], line: string) =>
  runJson(testConsole.gallery.dataDir, commands, `${line} --project ${projectId()}`)
const sweep = () => runAsAllAccounts(() => testConsole.gallery.openedGallery.maintenance.sweep())
const expiresAtUtc = () => new Date(nowMs + 60_000).toISOString()

type DeletionRoute = {
  readonly title: string
  readonly create?: () => Promise<Person>
  readonly remove: (person: Person) => Promise<unknown>
}

const deletions: readonly DeletionRoute[] = [
  {
    title: 'svc.deleteSubject',
    remove: ({ subjectId }) => testConsole.gallery.value('svc.deleteSubject', { subjectId }),
  },
  {
    title: 'the page of the subject',
    remove: (person) =>
      pageRequest('DELETE', `/subjects/${person.subjectId}`, { confirm: confirm(person) }),
  },
  {
    title: 'a list of subjects in the console',
    remove: async ({ subjectId }) => {
      const others = [await enroll(), await enroll()]
      for (const other of others) await nameInResponses(other, 100)
      const subjectIds = [...others.map((other) => other.subjectId), subjectId]
      await pageRequest('POST', '/subjects/delete', { subjectIds, confirm: 'delete 3 subjects' })
    },
  },
  {
    title: 'a merge in the console',
    remove: async (person) => {
      const { subjectId } = await enroll()
      const body = { sourceSubjectId: person.subjectId, confirm: confirm(person) }
      await pageRequest('POST', `/subjects/${subjectId}/merge`, body)
    },
  },
  {
    title: 'the route of a visitor',
    create: visit,
    remove: ({ subjectId }) => rest('DELETE', `/v1/visitors/${subjectId}`),
  },
  {
    title: 'the page of a visitor',
    create: visit,
    remove: (person) =>
      pageRequest('DELETE', `/visitors/${person.subjectId}`, { confirm: confirm(person) }),
  },
  {
    title: 'the enrollment of a visitor',
    create: visit,
    remove: ({ subjectId }) => rest('POST', `/v1/visitors/${subjectId}/promote`, {}),
  },
  {
    title: 'the merge of a visitor',
    create: visit,
    remove: async (person) => {
      const { subjectId } = await enroll()
      await rest('POST', `/v1/visitors/${person.subjectId}/merge`, { subjectId })
    },
  },
  {
    title: 'a group',
    create: () => enroll({ groups: ['gone'] }),
    remove: () => rest('DELETE', '/v1/groups/gone'),
  },
  {
    title: 'the expiry',
    create: () => enroll({ expiresAtUtc: expiresAtUtc() }),
    remove: async () => {
      nowMs += 60_000
      await sweep()
    },
  },
  {
    title: 'an enrollment with the external id of an expired subject',
    create: () => enroll({ externalId: 'former', expiresAtUtc: expiresAtUtc() }),
    remove: async () => {
      nowMs += 60_000
      await enroll({ externalId: 'former' })
    },
  },
  {
    title: "CompreFace's route of a subject",
    create: () => enroll({ externalId: 'c-1' }),
    remove: () => compreFace('DELETE', '/subjects/c-1'),
  },
  {
    title: "CompreFace's merge by a new name",
    create: () => enroll({ externalId: 'c-2' }),
    remove: async () => {
      await enroll({ externalId: 'c-3' })
      await compreFace('PUT', '/subjects/c-2', { subject: 'c-3' })
    },
  },
  {
    title: "CompreFace's route of the faces of a subject",
    create: () => enroll({ externalId: 'c-4' }),
    remove: () => compreFace('DELETE', '/faces?subject=c-4'),
  },
  {
    title: "CompreFace's route of a face",
    remove: ({ faceId }) => compreFace('DELETE', `/faces/${faceId}`),
  },
  {
    title: "CompreFace's route of several faces",
    remove: ({ faceId }) => compreFace('POST', '/faces/delete', [faceId]),
  },
  {
    title: 'a command',
    remove: ({ subjectId }) => runCommand(subjectCommands, `delete ${subjectId}`),
  },
  {
    title: 'a merge by a command',
    remove: async ({ subjectId }) => {
      const { subjectId: into } = await enroll()
      await runCommand(subjectCommands, `merge ${subjectId} --into ${into}`)
    },
  },
  {
    title: 'a command for a visitor',
    create: visit,
    remove: ({ subjectId }) => runCommand(visitorCommands, `delete ${subjectId}`),
  },
  {
    title: "CompreFace's route of all subjects",
    remove: () => compreFace('DELETE', '/subjects'),
  },
]

for (const { title, create = enroll, remove } of deletions)
  test(`Many stored responses are redacted in several statements before a deletion by ${title}`, async () => {
    const person = await create()
    await nameInResponses(person)
    redacted = []
    await remove(person)
    assert.equal(await countNamed(person), 0)
    assert.ok(Math.max(...redacted) <= perStatementMax, redacted.join())
    assert.ok(redacted.length > 1, redacted.join())
  })

test('A statement redacts at most 2 MiB of responses, and a deletion 128 KiB, or one larger response', async () => {
  const { gallery } = testConsole
  const redact = async (count: number, bytes: number) => {
    const person = await enroll()
    // Only these responses name the person, not that of the enrollment. Eight bytes replace each.
    await gallery.database.store.db.deleteFrom('responseSubjects').execute()
    await nameInResponses(person, count, bytes - 8)
    redacted = []
    await gallery.value('svc.deleteSubject', { subjectId: person.subjectId })
    return redacted
  }
  assert.deepEqual(await redact(1, 2 ** 17), [1])
  // The deletion redacts the first one and is rolled back.
  assert.deepEqual(await redact(16, 2 ** 17), [1, 16])
  assert.deepEqual(await redact(16, 2 ** 17 + 1), [1, 15, 1])
  assert.deepEqual(await redact(1, 2 ** 21 + 1), [1])
})

test('A response that is stored during the redaction is redacted by the deletion', async () => {
  const { gallery } = testConsole
  const person = await enroll()
  await nameInResponses(person)
  const call = { action: 'svc.identify', requestId: randomUUID(), params: imageParams(person.name) }
  let stored: Promise<unknown> | undefined
  onRedacted = () => void (stored ??= gallery.post(call))
  await gallery.value('svc.deleteSubject', { subjectId: person.subjectId })
  onRedacted = () => {}
  await stored
  const { body } = await gallery.post(call)
  assert.equal(body.meta.idempotencyReplay, true)
  assert.ok(!JSON.stringify(body).includes(person.subjectId), JSON.stringify(body))
  assert.equal(await countNamed(person), 0)
})

test('A deletion that fails during the redaction continues with the rest when it is repeated', async () => {
  const { gallery } = testConsole
  const person = await enroll()
  await nameInResponses(person, 2 * responseCount)
  redacted = []
  onRedacted = () => assert.notEqual(redacted.length, 4, 'injected after a redaction')
  const deletion = { action: 'svc.deleteSubject', params: { subjectId: person.subjectId } }
  assert.ok((await gallery.post(deletion)).status >= 500)
  onRedacted = () => {}
  const kept = await gallery.value('svc.identify', imageParams(person.name))
  assert.equal(kept.bestMatch.subjectId, person.subjectId)
  redacted = []
  await gallery.value('svc.deleteSubject', { subjectId: person.subjectId })
  // The first number is rolled back. The failed deletion redacted 200 of 500 and two other responses.
  assert.deepEqual(redacted, [100, 100, 100, 100, 2])
  assert.equal(await countNamed(person), 0)
})
