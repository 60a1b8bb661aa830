import { randomUUID } from 'node:crypto'
import { addViolation } from './call-record.ts'
import type { SoakCaller } from './soak-caller.ts'

/** From this many subjects on, each enrollment is followed by a deletion. */
const subjectsMax = 200

export async function enrollSubject(caller: SoakCaller): Promise<void> {
  const { record, images, pick } = caller
  const params = { images: [pick(images.portraits)], externalId: `soak-${randomUUID()}` }
  const results = await caller.callWithImage('svc.enroll', { ...params, minQuality: 0 })
  const subjectId = results?.[0].value.subjectId
  if (subjectId) record.subjects.push(subjectId)
  if (record.subjects.length > subjectsMax) await deleteRandomSubject(caller)
}

async function deleteRandomSubject({ record, random, call }: SoakCaller): Promise<void> {
  const [subjectId] = record.subjects.splice(Math.floor(random() * record.subjects.length), 1)
  if (!subjectId) return
  const results = await call('svc.deleteSubject', { subjectId })
  // After a call that was given up, the subject may exist or not.
  if (results) record.deletedAtMs.set(subjectId, Date.now())
}

export async function identifySubjects(caller: SoakCaller): Promise<void> {
  const { record, images, random, pick } = caller
  const startMs = Date.now()
  const image = random() < 0.3 ? pick(images.groups) : pick(images.portraits)
  const results = await caller.callWithImage('svc.identify', { images: [image] })
  for (const face of results?.[0].value.faces ?? [])
    for (const { subjectId } of face.candidates)
      if ((record.deletedAtMs.get(subjectId) ?? Infinity) < startMs)
        addViolation(record, `svc.identify returned the deleted subject ${subjectId}`)
}

/** The subject may be deleted meanwhile: then the call is rejected and not billed. */
export async function verifySubject({ record, images, pick, callWithImage }: SoakCaller) {
  const subjectId = pick(record.subjects)
  if (subjectId) await callWithImage('svc.verify', { images: [pick(images.portraits)], subjectId })
}

/** A subject can be deleted between the choice and the call, so the result does not matter. */
export async function updateRandomSubject({ record, random, pick, call }: SoakCaller) {
  const subjectId = pick(record.subjects)
  const params = { subjectId, displayName: `Subject ${random()}`, addGroups: ['soak'] }
  if (subjectId) await call('svc.updateSubject', params)
}

export function readRandomSubject(caller: SoakCaller): Promise<void> {
  return readRoute(caller, `/v1/subjects/${caller.pick(caller.record.subjects) ?? randomUUID()}`)
}

export function listSubjects(caller: SoakCaller): Promise<void> {
  return readRoute(caller, '/v1/subjects?limit=50&include=faces')
}

async function readRoute({ server, record, latencies }: SoakCaller, path: string): Promise<void> {
  const { url, key } = await server.running()
  const startMs = performance.now()
  const response = await fetch(url + path, { headers: { 'x-api-key': key } }).catch(() => undefined)
  await response?.text().catch(() => '')
  if (response?.ok) latencies.record('call without image', startMs)
  // A subject may be deleted between the choice and the call; during a restart there is no response.
  if (response && ![200, 404, 503].includes(response.status))
    addViolation(record, `HTTP ${response.status} for ${path}`)
}
