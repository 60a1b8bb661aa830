import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import sharp from 'sharp'
import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/lib/log.ts'
import { builtinPack } from '../../src/models/builtin/builtin-pack.ts'
import type { BuiltinModel } from '../../src/models/builtin/builtin-model.ts'
import { builtinSet } from '../../src/models/model-set.ts'
import { readActiveModels } from '../../src/start/active-models.ts'
import { iou } from '../../src/vision/image/geometry.ts'
import type { BoundingBox, Rect } from '../../src/vision/image/geometry.ts'
import type { FaceResult } from '../../src/vision/image-analysis.ts'
import { optimizedPaths, readCopyReport } from '../../src/vision/optimized/copy-report.ts'
import { isWorthwhile, measureInt8 } from '../../src/vision/optimized/measure-int8.ts'
import { selfTestModels } from '../../src/vision/self-test/self-test.ts'
import { samplePhotograph } from '../support/facegate/test-facegate.ts'
import { testModelsFolder } from '../support/paths.ts'
import { openTestPipeline, type TestPipeline } from '../support/vision/test-pipeline.ts'

const int8Ids = ['ssd_mobilenetv1', 'face_recognition', 'faceres']
const models = Object.values<BuiltinModel>(builtinPack.models)

/** Prepares the networks as a start with this setting does, and returns their folder. */
async function prepare(mode: string): Promise<string> {
  const settings = { MODELS_DIR: testModelsFolder, DATA_DIR: path.join(tmpdir(), 'unused') }
  const config = readConfig({ ...settings, VISION_INT8: mode })
  const log = createLog('silent')
  const { optimizedFolder } = await readActiveModels(config, { log, onProgress: () => {} })
  assert.ok(optimizedFolder !== undefined)
  return optimizedFolder
}

async function idsWithIntegers(folder: string): Promise<string[]> {
  const reports = await Promise.all(
    models.map(({ artifact }) => readCopyReport(folder, artifact.sha256)),
  )
  return models.flatMap(({ id }, index) => (reports[index]?.precision === 'int8' ? [id] : []))
}

test('VISION_INT8=on uses the int8 version of each network that has one, off uses none', async () => {
  const on = await prepare('on')
  assert.deepEqual((await idsWithIntegers(on)).toSorted(), int8Ids.toSorted())
  assert.deepEqual(await idsWithIntegers(await prepare('off')), [])
  const options = { modelsFolder: testModelsFolder, modelSet: builtinSet }
  assert.deepEqual(await selfTestModels({ ...options, optimizedFolder: on }), [])
})

test('VISION_INT8=auto uses the int8 versions that this machine runs faster', async () => {
  const folder = await prepare('auto')
  for (const { id, artifact } of models) {
    const report = await readCopyReport(folder, artifact.sha256)
    assert.ok(report)
    if (!int8Ids.includes(id)) assert.equal(report.measurement, undefined)
    else {
      assert.ok(report.measurement && report.measurement.int8Ms > 0)
      const expected = isWorthwhile(report.measurement) ? 'int8' : 'float32'
      assert.equal(report.precision, expected)
    }
  }
  const options = { modelsFolder: testModelsFolder, modelSet: builtinSet }
  assert.deepEqual(await selfTestModels({ ...options, optimizedFolder: folder }), [])
})

test('An int8 version is worthwhile if it is 1.4 times as fast', () => {
  assert.equal(isWorthwhile({ float32Ms: 14, int8Ms: 10 }), true)
  assert.equal(isWorthwhile({ float32Ms: 13.9, int8Ms: 10 }), false)
})

test('A measurement has eleven rounds, starts none after 10 s and has at least one', async (t) => {
  const { artifact, input } = builtinPack.models.blazeface
  const { filePath } = optimizedPaths(await prepare('off'), artifact.sha256)
  const paths = { float32: filePath, int8: filePath }
  let [nowMs, roundMs, readings] = [0, 0, 0]
  t.mock.method(performance, 'now', () => nowMs)
  // The processor time is read before and after both runs of a round.
  t.mock.method(process, 'cpuUsage', () => {
    readings += 1
    nowMs += roundMs / 4
    return { user: 1000 * nowMs, system: 0 }
  })
  const roundsOf = async (ms: number): Promise<number> => {
    ;[nowMs, roundMs, readings] = [0, ms, 0]
    await measureInt8({ input }, paths)
    return readings / 4
  }
  assert.equal(await roundsOf(999), 11)
  assert.equal(await roundsOf(9_996), 2)
  assert.equal(await roundsOf(10_000), 1)
  assert.equal(await roundsOf(60_000), 1)
})

const opened: TestPipeline[] = []
after(async () => {
  for (const pipeline of opened) await pipeline.close()
})

async function analyzeWith(int8: 'on' | 'off', images: readonly Buffer[]): Promise<FaceResult[][]> {
  const pipeline = await openTestPipeline(builtinSet, int8)
  opened.push(pipeline)
  const results: FaceResult[][] = []
  for (const image of images) {
    const { faces } = await pipeline.analyze(image, { templates: true })
    results.push(faces.toSorted((a, b) => a.boundingBox.left - b.boundingBox.left))
  }
  return results
}

const toRect = ({ left, top, width, height }: BoundingBox): Rect => ({
  x: left,
  y: top,
  width,
  height,
})

function confidencesOf(faces: readonly FaceResult[] | undefined): number[] | undefined {
  return faces?.map(({ confidence }) => confidence)
}

/** The squared distance of the templates of two results of one face. */
function templateDistance(a: FaceResult | undefined, b: FaceResult | undefined): number {
  const [from, to] = [a?.template?.vector, b?.template?.vector]
  assert.ok(from && to && a?.template?.modelId === b?.template?.modelId)
  return from.reduce((sum, value, index) => sum + (value - (to[index] ?? 0)) ** 2, 0)
}

/** px; the faces then have 80 to 100 px, as in press photographs. */
const imageWidthPx = 960

/** Width in px of a grey border that makes the faces too small for a detection without the SSD. */
const borderPx = 960

test('Integers find the same faces, and change templates less than another JPEG quality', async () => {
  const photographs = await Promise.all(
    ([1, 4, 5] as const).map((number) => samplePhotograph(number)),
  )
  const [fine, coarse] = await Promise.all(
    [95, 80].map((quality) =>
      Promise.all(
        photographs.map(({ bytes }) =>
          sharp(bytes)
            .resize(imageWidthPx)
            .extend({ right: borderPx, background: '#888' })
            .jpeg({ quality })
            .toBuffer(),
        ),
      ),
    ),
  )
  assert.ok(fine && coarse)
  const integersByImage = await analyzeWith('on', fine)
  const floatsByImage = await analyzeWith('off', fine)
  for (const [index, faces] of floatsByImage.entries())
    assert.notDeepEqual(confidencesOf(integersByImage[index]), confidencesOf(faces), 'the SSD ran')
  const integers = integersByImage.flat()
  const floats = floatsByImage.flat()
  const coarser = (await analyzeWith('off', coarse)).flat()
  assert.deepEqual([integers.length, floats.length, coarser.length], [12, 12, 12])
  let [byIntegers, byQuality] = [0, 0]
  for (const [index, face] of floats.entries()) {
    const other = integers[index]
    assert.ok(other && iou(toRect(face.boundingBox), toRect(other.boundingBox)) > 0.9)
    const change = templateDistance(face, other)
    assert.ok(change > 0)
    byIntegers += change
    byQuality += templateDistance(face, coarser[index])
  }
  assert.ok(byIntegers < byQuality, `${byIntegers} and ${byQuality}`)
})
