import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { gallery as galleryCommands } from '../../../src/cli/commands.ts'
import { calibrationOf, createCalibrations } from '../../../src/gallery/calibration/calibrations.ts'
import { decideDistinct } from '../../../src/gallery/health/decide-distinct.ts'
import type { SubjectHealth } from '../../../src/gallery/health/check-gallery.ts'
import { readTemplateModel } from '../../../src/models/template/template-model.ts'
import { runJson, runLines } from '../../support/cli/run-json.ts'
import { embeddingOf, type FakePerson } from '../../support/gallery/fake-vision.ts'
import { fillTemplates } from '../../support/gallery/fill-templates.ts'
import { startGallery, type TestGallery } from '../../support/gallery/test-gallery.ts'

let gallery: TestGallery
let modelId = ''
let projectId = ''
before(async () => {
  ;({ modelId } = await readTemplateModel())
  const table = calibrationOf(modelId) ?? assert.fail('the model has a table')
  const calibrations = createCalibrations(table)
  gallery = await startGallery({ models: { active: modelId }, calibrations })
  const { project } = await gallery.createProjectClient({ galleryMode: 'isolated' })
  ;({ projectId } = project)
  const take = (name: string, number: number, deviation = 0.3) => ({
    name,
    deviation,
    take: number,
  })
  const enroll = (externalId: string, people: readonly FakePerson[]) => ({
    externalId,
    templates: people.map((person) => ({
      modelId,
      vector: embeddingOf(person, modelId),
      density: -0.9,
    })),
  })
  await fillTemplates(gallery, project, [
    ...Array.from({ length: 10 }, (_, index) =>
      enroll(
        `right-${index}`,
        [0, 1, 2].map((number) => take(`Right ${index}`, number)),
      ),
    ),
    enroll('mixed', [take('Mix', 0), take('Mix', 1), take('Right 3', 9)]),
    enroll('two', [take('Two', 0), take('Right 4', 9)]),
    enroll('either', [take('Eve', 0), take('Ed', 0)]),
    enroll('single', [take('Single', 0)]),
    enroll('twice-a', [take('Dora', 0), take('Dora', 1)]),
    enroll('twice-b', [take('Dora', 2), take('Dora', 3)]),
  ])
})
after(() => gallery[Symbol.asyncDispose]())

const run = (options: string) => runJson(gallery.dataDir, galleryCommands, options)
const check = () => run(`check --project ${projectId}`)
const find = (results: readonly SubjectHealth[], externalId: string) =>
  results.find((result) => result.externalId === externalId) ?? assert.fail(externalId)

test('A check finds pictures of other people, duplicates and single pictures, and nothing else', async () => {
  const health = await check()
  assert.deepEqual([health.subjects, health.templates, health.threshold], [16, 42, 0.8])
  assert.deepEqual(health.issues, {
    otherPerson: 2,
    differentPeople: 1,
    duplicate: 2,
    harmful: 0,
    lookAlike: 0,
    missed: 2,
    oldPictures: 0,
    onePicture: 1,
  })
  const flaggedOf = (externalId: string) =>
    find(health.results, externalId).pictures.flatMap(({ issue, belongsTo }) =>
      issue === null ? [] : [`${issue} ${belongsTo?.externalId}`],
    )
  assert.deepEqual(flaggedOf('mixed'), ['otherPerson right-3'])
  assert.deepEqual(flaggedOf('two'), ['otherPerson right-4'])
  const undecided = 'differentPeople undefined'
  assert.deepEqual(flaggedOf('either'), [undecided, undecided])
  assert.deepEqual(find(health.results, 'single').issues, ['onePicture'])
  assert.equal(find(health.results, 'single').pictures[0]?.similarity, null)
  const right = find(health.results, 'right-0')
  assert.deepEqual(right.issues, [])
  assert.ok(right.pictures.every(({ similarity }) => Number(similarity) > 0.9))
  assert.equal(right.lookAlikes.length, 1, 'the nearest other subject')
  const [pair, ...others] = health.duplicates
  assert.deepEqual(others, [])
  const ids = new Set([pair.subjectA.externalId, pair.subjectB.externalId])
  assert.deepEqual(ids, new Set(['twice-a', 'twice-b']))
  assert.ok(health.predictedMisses.rate < 0.1 && health.predictedMisses.probes > 30)
  const { results } = health
  assert.ok(results[0].issues.includes('otherPerson'), 'the most urgent first')
})

test('The text lists the issues with their remedies, the faces and the duplicates', async () => {
  const lines = await runLines(gallery.dataDir, galleryCommands, `check --project ${projectId}`)
  const text = lines.join('\n')
  assert.match(text, /gallery {4}16 subjects, 42 templates/u)
  assert.match(text, /2 +otherPerson +a picture of another person +remove the picture/u)
  assert.match(text, /twice-. +twice-. +0\.9/u)
  assert.match(text, / is right-3/u)
})

test('A pair that is marked as distinct is a look-alike and no duplicate, until the mark is removed', async () => {
  const [pair] = (await check()).duplicates
  const { store } = gallery.database
  const [subjectId, otherId] = [pair.subjectB.subjectId, pair.subjectA.subjectId]
  const mark = (isDistinct: boolean) =>
    store.write((tx) =>
      decideDistinct(
        tx,
        { galleryId: projectId, subjectId, otherId },
        { at: Date.now(), by: 'Olga', isDistinct },
      ),
    )
  await mark(true)
  const marked = await check()
  assert.deepEqual([marked.duplicates, marked.issues.lookAlike], [[], 2])
  const [lookAlike] = find(marked.results, 'twice-a').lookAlikes
  assert.equal(lookAlike?.externalId, 'twice-b')
  assert.ok(lookAlike.rate < 1e-3)
  await mark(false)
  assert.equal((await check()).duplicates.length, 1)
})
