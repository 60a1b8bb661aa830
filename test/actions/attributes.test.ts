import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { after, before, test } from 'node:test'
import sharp from 'sharp'
import { readLabels } from '../../src/evaluation/read-labels.ts'
import {
  imageItem,
  createDataDir,
  samplePhotograph,
  startFacegate,
  type TestFacegate,
} from '../support/facegate/test-facegate.ts'
import { openTestPipeline } from '../support/vision/test-pipeline.ts'
import { samplePortrait } from '../support/facegate/sample-portrait.ts'
import { cliOutput } from '../support/cli/run-cli.ts'
import { evalDataFolder } from '../support/paths.ts'

const attributesFolder = path.join(evalDataFolder, 'attributes')

let facegate: TestFacegate
let portrait: Buffer
before(async () => {
  facegate = await startFacegate({ VISION_WORKERS: '1' })
  portrait = await samplePortrait()
})
after(() => facegate[Symbol.asyncDispose]())

const png = () => ({ bytes: portrait, contentType: 'image/png' })

async function attributes(params: object = {}) {
  const { body } = await facegate.run('svc.attributes', png(), params)
  assert.equal(body.ok, true, JSON.stringify(body.errors))
  return body.data.results[0].value
}

test('a smiling woman with open eyes is told as one', async () => {
  const { face, attributes: told, unavailable, image } = await attributes()
  assert.equal(face.quality.level, 'high')
  assert.equal(image.width, 448)
  assert.ok(told.age.value > 15 && told.age.value < 60)
  assert.ok(told.age.low < told.age.value && told.age.value < told.age.high)
  assert.equal(told.gender.value, 'female')
  assert.ok(told.gender.confidence >= 0.5 && told.gender.confidence <= 1)
  assert.equal(told.expression.value, 'happy')
  const scores = Object.values<number>(told.expression.scores)
  assert.equal(scores.length, 7)
  assert.ok(Math.abs(scores.reduce((sum, score) => sum + score, 0) - 1) < 1e-6)
  assert.ok(Math.abs(told.expression.scores.happy - told.expression.confidence) < 0.001)
  assert.ok(told.eyesOpen.left > 0.5 && told.eyesOpen.right > 0.5)
  assert.equal(told.mouthOpen.value, false)
  assert.deepEqual(unavailable, ['glasses', 'mask'])
})

test('only what is included is told, once, and what has no model is said to have none', async () => {
  const some = await attributes({ include: ['gender', 'gender', 'mask', 'mouthOpen'] })
  assert.deepEqual(Object.keys(some.attributes), ['gender', 'mouthOpen'])
  assert.deepEqual(some.unavailable, ['mask'])
  const none = await attributes({ include: ['glasses'] })
  assert.deepEqual([none.attributes, none.unavailable], [{}, ['glasses']])
})

test('unknown names are refused by name, and so is an empty list', async () => {
  const refused = async (include: unknown) => {
    const { body } = await facegate.run('svc.attributes', png(), { include })
    assert.equal(body.ok, false)
    return body.errors.map(
      ({ code, message }: { code: string; message: string }) => `${code} ${message}`,
    )
  }
  assert.deepEqual(await refused(['age', 'race', 'beauty']), [
    'INVALID_REQUEST params.include[1]: "race" is none of age, gender, expression, eyesOpen, mouthOpen, glasses, mask',
    'INVALID_REQUEST params.include[2]: "beauty" is none of age, gender, expression, eyesOpen, mouthOpen, glasses, mask',
  ])
  assert.match((await refused([]))[0], /^INVALID_REQUEST params\.include: /u)
})

test('no face, small ones, several and bad ones are refused, and cost nothing', async () => {
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
  assert.equal(await code(group), undefined, 'of several the largest is told')
})

test('what a project has switched off is neither computed nor told, in both actions', async () => {
  const dataDir = await createDataDir()
  await using own = await startFacegate({ VISION_WORKERS: '1', DATA_DIR: dataDir })
  const set = async (...switches: string[]) => {
    const args = ['project', 'set', 'default', ...switches, '--json']
    const { gender, expression } = JSON.parse(await cliOutput(args, { DATA_DIR: dataDir })).switches
    return [gender, expression]
  }
  assert.deepEqual(await set('--gender', 'off', '--expression', 'off'), [false, false])
  const images = [imageItem(png())]
  const { body } = await own.post({ action: 'svc.attributes', debug: true, params: { images } })
  const { attributes: told, unavailable, debug } = body.data.results[0].value
  assert.deepEqual(Object.keys(told), ['age', 'eyesOpen', 'mouthOpen'])
  assert.deepEqual(unavailable, ['gender', 'expression', 'glasses', 'mask'])
  assert.equal(debug.providers.attributes, 'faceres@1+age_gender@1')
  const analysed = await own.run('svc.analyze', png(), { features: ['attributes'] })
  const [face] = analysed.body.data.results[0].value.faces
  assert.deepEqual(Object.keys(face.attributes), ['age', 'eyesOpen', 'mouthOpen'])
  assert.deepEqual(await set('--gender', 'on'), [true, false])
  await assert.rejects(set('--gender', 'maybe'), { code: 2, stderr: /--gender must be on or off/u })
  const again = await own.run('svc.attributes', png(), { include: ['gender', 'expression'] })
  assert.deepEqual(again.body.data.results[0].value.unavailable, ['expression'])
  await rm(dataDir, { recursive: true })
})

test('an eye behind a bar is neither open nor shut', async () => {
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
  const { attributes: told, unavailable } = body.data.results[0].value
  assert.deepEqual([Object.keys(told), unavailable], [['mouthOpen'], ['eyesOpen']])
})

test(
  'at least 98 of 100 press photographs get the gender of their list',
  { skip: existsSync(attributesFolder) ? false : `${attributesFolder} is not here` },
  async () => {
    const eye = await openTestPipeline()
    const rows = (await readLabels(attributesFolder, ['file', 'gender'])).slice(0, 100)
    let right = 0
    for (const { file = '', gender } of rows) {
      const bytes = await readFile(path.join(attributesFolder, file))
      const { faces, width } = await eye.analyze(bytes, { attributes: ['gender'], maxFaces: 10 })
      const off = (face: (typeof faces)[number]): number =>
        Math.abs(face.boundingBox.left + face.boundingBox.width / 2 - width / 2)
      const [central] = faces.toSorted((a, b) => off(a) - off(b))
      const male = central?.attributes?.maleProbability ?? 0.5
      if ((male >= 0.5 ? 'male' : 'female') === gender) right++
    }
    await eye.close()
    assert.ok(right >= 98, `${right} of ${rows.length}`)
  },
)
