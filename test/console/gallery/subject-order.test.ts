import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertOk, startConsole, type TestConsole } from '../../support/console/test-console.ts'
import { imageParams } from '../../support/gallery/test-gallery.ts'

let testConsole: TestConsole
let project: string
const clock = { nowMs: Date.parse('2026-03-01T23:50:00Z') }
before(async () => {
  testConsole = await startConsole({ clock: () => clock.nowMs })
  project = `/projects/${testConsole.projectId}`
  assertOk(await testConsole.owner.send('PATCH', project, { switches: { storeCrops: true } }))
})
after(() => testConsole[Symbol.asyncDispose]())

const get = async (target: string) => assertOk(await testConsole.owner.get(project + target)).body

async function enroll(name: string, params: object = {}): Promise<string> {
  const all = { ...imageParams(name), duplicateCheck: 'off', ...params }
  clock.nowMs += 1000
  return (await testConsole.gallery.value('svc.enroll', all)).subjectId
}

/** Returns the names of all subjects in an order, read in pages of two. */
async function namesBy(sort: string, ids: readonly string[]): Promise<string[]> {
  const names: string[] = []
  const query = `subjectIds=${ids.join(',')}&limit=2&sort=${sort}`
  for (let cursor: string | null = ''; cursor !== null;) {
    const page = await get(`/subjects?${query}${cursor && `&cursor=${cursor}`}`)
    for (const { displayName, externalId } of page.items) names.push(displayName ?? externalId)
    cursor = page.nextCursor
  }
  return names
}

test('Subjects are sorted by name without regard to case and accents, and by their last match', async () => {
  const ids = [
    await enroll('Zoe', { displayName: 'zoë' }),
    await enroll('Emil', { displayName: 'Émil' }),
    await enroll('Ada', { displayName: 'ADA', externalId: 'z' }),
    await enroll('Ada', { displayName: 'ada', externalId: 'b' }),
    await enroll('Eva', { displayName: 'eva' }),
  ]
  const byName = ['ada', 'ADA', 'Émil', 'eva', 'zoë']
  assert.deepEqual(await namesBy('name', ids), byName)
  assert.deepEqual(await namesBy('-name', ids), byName.toReversed())
  clock.nowMs = Date.parse('2026-03-02T00:05:00Z')
  await testConsole.gallery.value('svc.identify', imageParams('Emil'))
  assert.equal((await namesBy('-seen', ids))[0], 'Émil')
  const { items } = await get(`/subjects?subjectIds=${ids[1]}`)
  assert.equal(items[0].lastSeenAtUtc, '2026-03-02T00:05:00.000Z')
  const subject = await get(`/subjects/${ids[1]}`)
  assert.equal(subject.lastSeenAtUtc, items[0].lastSeenAtUtc)
})

test('A name whose folded form is much longer is stored, sorted and found', async () => {
  // Each is folded to several characters, U+FDFA to 18.
  const letters = Array.from({ length: 255 }, (_, index) => String.fromCodePoint(0x3300 + index))
  const displayName = `\uFDFA${letters.join('')}`
  const subjectId = await enroll('Lea', { displayName, externalId: '\uFDFA'.repeat(128) })
  const { items } = await get('/subjects?sort=-name&limit=200')
  assert.ok(items.some((item: { subjectId: string }) => item.subjectId === subjectId))
  const found = await get(`/subjects?q=${encodeURIComponent('\uFDFA')}`)
  assert.equal(found.items[0].subjectId, subjectId)
})

test('A list of ids contains only subjects of the gallery', async () => {
  const own = await enroll('Kim')
  const foreign = await testConsole.gallery.createProjectClient({ galleryMode: 'isolated' })
  const other = (await foreign.value('svc.enroll', imageParams('Kim'))).subjectId
  const { items } = await get(`/subjects?subjectIds=${own},${other}`)
  assert.deepEqual(
    items.map((item: { subjectId: string }) => item.subjectId),
    [own],
  )
  assert.deepEqual((await get(`/subjects?subjectIds=${other}&total=true`)).total, 0)
})

test('The best picture of a subject comes first among its crops', async () => {
  const subjectId = await enroll('Bea', imageParams({ name: 'Bea', quality: 70 }))
  for (const [take, quality] of [95, 80].entries()) {
    const image = imageParams({ name: 'Bea', deviation: 0.3, take, quality })
    await testConsole.gallery.value('svc.enroll', { ...image, subjectId })
  }
  const { faces } = await get(`/subjects/${subjectId}`)
  const { items } = await get(`/cropped-faces?subjectIds=${subjectId}`)
  const qualities = items.map(
    ({ faceId }: { faceId: string }) =>
      faces.find((face: { faceId: string }) => face.faceId === faceId).qualityScore,
  )
  assert.deepEqual(qualities, [95, 80, 70])
})
