import { setTimeout } from 'node:timers/promises'
import { seededRandom } from '../../../src/lib/random/seeded-random.ts'
import { assertOk, type TestConsole } from '../console/test-console.ts'
import { fillPeople } from '../console/fill-people.ts'
import type { FakePerson } from '../gallery/fake-vision.ts'
import { imageParams, type GalleryClient } from '../gallery/test-gallery.ts'

/** A project of the sample account: its gallery and its calls in each hour of the day, UTC. */
type SampleProject = {
  readonly name: string
  readonly subjectCount: number
  /** In units of the currency. */
  readonly budget: string
  readonly callsByHour: (hour: number) => number
  /** The actions of the calls, in turn. */
  readonly actions: readonly string[]
}

const sampleProjects: readonly SampleProject[] = [
  {
    name: 'Front door',
    subjectCount: 84,
    budget: '5',
    callsByHour: peaks(2, [8, 26], [12, 14], [17, 22]),
    actions: ['svc.identify'],
  },
  {
    name: 'Attendance terminal',
    subjectCount: 231,
    budget: '1',
    callsByHour: peaks(0, [7, 22], [8, 30], [16, 34]),
    actions: ['svc.identify', 'svc.identify', 'svc.verify'],
  },
  {
    name: 'Visitor kiosk',
    subjectCount: 37,
    budget: '2',
    callsByHour: peaks(0, [10, 14], [14, 17]),
    actions: ['svc.liveness', 'svc.identify', 'svc.analyze', 'svc.detect'],
  },
]

const hourMs = 3_600_000
const topUpMicros = '25000000'
const concurrentCalls = 4

/** Waits like an analysis of one image, with the same times in every run. */
export function sampleAnalysisDelay(): () => Promise<void> {
  const random = seededRandom(3)
  return () => setTimeout(24 + 40 * random() ** 3)
}

/** Creates the projects and sends their calls of 24 hours. Sets the clock to the time of each hour. */
export async function sendSampleUsage(
  testConsole: TestConsole,
  clock: { nowMs: number },
): Promise<void> {
  const { owner, projectId: firstProjectId } = testConsole
  const amount = { amountMicros: topUpMicros, note: 'Invoice 2026-114' }
  assertOk(await owner.send('POST', '/money/top-up', amount))
  const projects = []
  for (const [index, sample] of sampleProjects.entries()) {
    const projectId = index === 0 ? firstProjectId : undefined
    projects.push({ sample, client: await createSampleProject(testConsole, sample, projectId) })
  }
  const random = seededRandom(11)
  const endMs = clock.nowMs
  for (let hoursAgo = 23; hoursAgo >= 0; hoursAgo--) {
    clock.nowMs = endMs - hoursAgo * hourMs
    const hour = new Date(clock.nowMs).getUTCHours()
    for (const { sample, client } of projects) {
      const callCount = Math.round(sample.callsByHour(hour) * (0.8 + 0.4 * random()))
      const calls = Array.from({ length: callCount }, (_, index) =>
        sampleCall(sample, sample.actions[index % sample.actions.length] ?? '', random),
      )
      for (let start = 0; start < calls.length; start += concurrentCalls)
        await Promise.all(
          calls
            .slice(start, start + concurrentCalls)
            .map(({ action, params }) => client.call(action, params)),
        )
    }
  }
}

/** @param existingId a project that gets the name instead of a new one. */
async function createSampleProject(
  { owner, gallery }: TestConsole,
  { name, subjectCount, budget }: SampleProject,
  existingId: string | undefined,
): Promise<GalleryClient> {
  const created = existingId
    ? await owner.send('PATCH', `/projects/${existingId}`, { name })
    : await owner.send('POST', '/projects', { name, galleryMode: 'isolated' })
  const { projectId } = assertOk(created).body
  const amountMicros = `${budget}000000`
  assertOk(await owner.send('POST', '/money/allocate', { projectId, amountMicros }))
  const key = { projectId, name: `${name} camera`, permissions: ['*'] }
  const { body } = assertOk(await owner.send('POST', '/keys', key))
  const found = await gallery.database.store.db
    .selectFrom('projects')
    .select('accountId')
    .where('projectId', '=', projectId)
    .executeTakeFirstOrThrow()
  await fillPeople(gallery, { ...found, projectId }, { count: subjectCount })
  return gallery.withKey(body.key)
}

/** Returns a call with a realistic picture: most show one enrolled person, some do not. */
function sampleCall(sample: SampleProject, action: string, random: () => number) {
  const number = Math.floor(random() * sample.subjectCount)
  const person: FakePerson = {
    name: `person ${number}`,
    deviation: 0.4,
    take: Math.floor(random() * 1e6),
  }
  const chance = random()
  const shown: readonly FakePerson[] =
    chance < 0.035 ? [] : [chance < 0.055 ? { ...person, quality: 22 } : person]
  const params = {
    ...imageParams(...shown),
    ...(action === 'svc.verify' && { mode: 'imageToSubject', externalId: `person-${number}` }),
    ...(['svc.identify', 'svc.verify'].includes(action) && { minQuality: 40 }),
  }
  return { action, params }
}

/** Returns the number of calls in each hour: peaks `[hour, calls]` over a constant number. */
function peaks(constant: number, ...tops: readonly (readonly [number, number])[]) {
  return (hour: number): number =>
    tops.reduce((sum, [top, calls]) => sum + calls * Math.exp(-((hour - top) ** 2) / 1.6), constant)
}
