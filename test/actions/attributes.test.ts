import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, test } from 'node:test'
import sharp from 'sharp'
import { project } from '../../src/cli/tenancy/commands.ts'
import { readCsv } from '../../src/evaluation/read-csv.ts'
import {
  imageItem,
  samplePhotograph,
  sharedFacegate,
  type TestFacegate,
} from '../support/facegate/test-facegate.ts'
import { closeSharedServices } from '../support/shared-service.ts'
import { openTestPipeline } from '../support/vision/test-pipeline.ts'
import { samplePortrait } from '../support/facegate/sample-portrait.ts'
import { cliOutput } from '../support/cli/run-cli.ts'
import { runJson } from '../support/cli/run-json.ts'
import { evalDataFolder } from '../support/paths.ts'

const attributesFolder = path.join(evalDataFolder, 'attributes')

let facegate: TestFacegate
let portrait: Buffer
before(async () => {
  facegate = await sharedFacegate()
  portrait = await samplePortrait()
})
after(closeSharedServices)

const png = () => ({ bytes: portrait, contentType: 'image/png' })

async function attributes(params: object = {}) {
  const { body } = await facegate.run('svc.attributes', png(), params)
  assert.equal(body.ok, true, JSON.stringify(body.errors))
  return body.data.results[0].value
}

test('The attributes of a smiling woman with open eyes are correct', async () => {
  const { face, attributes: result, unavailable, image } = await attributes()
  assert.equal(face.quality.level, 'high')
  assert.equal(image.width, 448)
  assert.ok(result.age.value > 15 && result.age.value < 60)
  assert.ok(result.age.low < result.age.value && result.age.value < result.age.high)
  assert.equal(result.gender.value, 'female')
  assert.ok(result.gender.confidence >= 0.5 && result.gender.confidence <= 1)
  assert.equal(result.expression.value, 'happy')
  const scores = Object.values<number>(result.expression.scores)
  assert.equal(scores.length, 7)
  assert.ok(Math.abs(scores.reduce((sum, score) => sum + score, 0) - 1) < 1e-6)
  assert.ok(Math.abs(result.expression.scores.happy - result.expression.confidence) < 0.001)
  assert.ok(result.eyesOpen.left > 0.5 && result.eyesOpen.right > 0.5)
  assert.equal(result.mouthOpen.value, false)
  assert.deepEqual(unavailable, ['glasses', 'mask'])
})

test('Only included attributes are returned, once, and an attribute without a model is unavailable', async () => {
  const some = await attributes({ include: ['gender', 'gender', 'mask', 'mouthOpen'] })
  assert.deepEqual(Object.keys(some.attributes), ['gender', 'mouthOpen'])
  assert.deepEqual(some.unavailable, ['mask'])
  const none = await attributes({ include: ['glasses'] })
  assert.deepEqual([none.attributes, none.unavailable], [{}, ['glasses']])
})

test('Unknown attribute names and an empty list are rejected', async () => {
  const errorsOf = async (include: unknown) => {
    const { body } = await facegate.run('svc.attributes', png(), { include })
    assert.equal(body.ok, false)
    return body.errors.map(
      ({ code, message }: { code: string; message: string }) => `${code} ${message}`,
    )
  }
  assert.deepEqual(await errorsOf(['age', 'race', 'beauty']), [
    'INVALID_REQUEST params.include[1]: must be one of "age", "gender", "expression", "eyesOpen", "mouthOpen", "glasses", "mask"; received other text',
    'INVALID_REQUEST params.include[2]: must be one of "age", "gender", "expression", "eyesOpen", "mouthOpen", "glasses", "mask"; received other text',
  ])
  assert.match((await errorsOf([]))[0], /^INVALID_REQUEST params\.include: /u)
})

test('Images without a face, with several faces, or with a face too small or too poor are rejected', async () => {
  const group = await samplePhotograph(6)
  const empty = sharp({ create: { width: 320, height: 240, channels: 3, background: '#888' } })
  const code = async (image: { bytes: Buffer; contentType: string }, params: object = {}) => {
    const { body } = await facegate.run('svc.attributes', image, params)
    return body.errors[0]?.code
  }
  const wall = { bytes: await empty.png().toBuffer(), contentType: 'image/png' }
  assert.equal(await code(wall), 'NO_FACE_FOUND')
  assert.equal(await code(png(), { minFaceSize: 400 }), 'FACE_TOO_SMALL')
  assert.equal(await code(group, { facePolicy: 'single' }), 'MULTIPLE_FACES')
  assert.equal(await code(png(), { minQuality: 100 }), 'LOW_QUALITY')
  assert.equal(await code(group), undefined, 'of several faces the largest is used')
})

test('Attributes that a project has disabled are neither computed nor returned, in both actions', async () => {
  const { dataDir } = facegate
  const set = async (...switches: string[]) => {
    const line = ['set', 'default', ...switches].join(' ')
    const { gender, expression } = (await runJson(dataDir, project, line)).switches
    return [gender, expression]
  }
  assert.deepEqual(await set('--gender', 'off', '--expression', 'off'), [false, false])
  const images = [imageItem(png())]
  const { body } = await facegate.post({
    action: 'svc.attributes',
    debug: true,
    params: { images },
  })
  const { attributes: result, unavailable, debug } = body.data.results[0].value
  assert.deepEqual(Object.keys(result), ['age', 'eyesOpen', 'mouthOpen'])
  assert.deepEqual(unavailable, ['gender', 'expression', 'glasses', 'mask'])
  assert.equal(debug.providers.attributes, 'faceres@1+age_gender@1')
  const analyzed = await facegate.run('svc.analyze', png(), { features: ['attributes'] })
  const [face] = analyzed.body.data.results[0].value.faces
  assert.deepEqual(Object.keys(face.attributes), ['age', 'eyesOpen', 'mouthOpen'])
  assert.deepEqual(await set('--gender', 'on'), [true, false])
  const wrong = cliOutput(['project', 'set', 'default', '--gender', 'maybe'], { DATA_DIR: dataDir })
  await assert.rejects(wrong, { code: 2, stderr: /--gender must be on or off/u })
  const again = await facegate.run('svc.attributes', png(), { include: ['gender', 'expression'] })
  assert.deepEqual(again.body.data.results[0].value.unavailable, ['expression'])
  assert.deepEqual(await set('--expression', 'on'), [true, true])
})

test('A covered eye is neither open nor closed', async () => {
  const { face } = await attributes({ include: ['age'] })
  const { leftEye, rightEye } = face.landmarks
  const bar = `<svg xmlns="http://www.w3.org/2000/svg" width="448" height="504"><line x1="${leftEye.x - 60}" y1="${leftEye.y - 13}" x2="${rightEye.x + 60}" y2="${rightEye.y + 13}" stroke="#111" stroke-width="62"/></svg>`
  const bytes = await sharp(portrait)
    .composite([{ input: await sharp(Buffer.from(bar)).png().toBuffer() }])
    .png()
    .toBuffer()
  const { body } = await facegate.run(
    'svc.attributes',
    { bytes, contentType: 'image/png' },
    { include: ['eyesOpen', 'mouthOpen'] },
  )
  const { attributes: result, unavailable } = body.data.results[0].value
  assert.deepEqual([Object.keys(result), unavailable], [['mouthOpen'], ['eyesOpen']])
})

test(
  'The gender of at least 98 of 100 labelled press photographs is correct',
  { skip: existsSync(attributesFolder) ? false : `${attributesFolder} does not exist` },
  async () => {
    const pipeline = await openTestPipeline()
    const rows = (
      await readCsv(path.join(attributesFolder, 'labels.csv'), ['file', 'gender'])
    ).slice(0, 100)
    let correctCount = 0
    for (const { cells } of rows) {
      const { file = '', gender } = cells
      const bytes = await readFile(path.join(attributesFolder, file))
      const { faces, width } = await pipeline.analyze(bytes, {
        attributes: ['gender'],
        maxFaces: 10,
      })
      const distanceToCentre = (face: (typeof faces)[number]): number =>
        Math.abs(face.boundingBox.left + face.boundingBox.width / 2 - width / 2)
      const [central] = faces.toSorted((a, b) => distanceToCentre(a) - distanceToCentre(b))
      const male = central?.attributes?.maleProbability ?? 0.5
      if ((male >= 0.5 ? 'male' : 'female') === gender) correctCount++
    }
    await pipeline.close()
    assert.ok(correctCount >= 98, `${correctCount} of ${rows.length}`)
  },
)
