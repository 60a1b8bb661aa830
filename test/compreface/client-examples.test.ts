import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createReadStream, existsSync, globSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import sharp from 'sharp'
import { samplePortrait } from '../support/facegate/sample-portrait.ts'
import {
  samplePhotograph,
  startFacegate,
  type TestFacegate,
} from '../support/facegate/test-facegate.ts'
import { createGalleryClient } from '../support/gallery/test-gallery.ts'
import { evalDataFolder, rootDir } from '../support/paths.ts'

const require = createRequire(import.meta.url)
const sdkFolder = path.join(rootDir, 'node_modules/@exadel/compreface-js-sdk')
/** The libraries that the SDK and other clients of CompreFace use. */
const sdkRequire = createRequire(require.resolve('@exadel/compreface-js-sdk'))

let facegate: TestFacegate
let folder: string
before(async () => {
  facegate = await startFacegate({ COMPREFACE_API: 'on', VISION_WORKERS: '1' })
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-compreface-'))
  await mkdir(path.join(folder, 'images'))
  const portrait = await samplePortrait()
  await sharp(portrait).jpeg().toFile(path.join(folder, 'images/boy.jpg'))
  await writeFile(path.join(folder, 'images/team.jpg'), (await samplePhotograph(6)).bytes)
})
after(async () => {
  await facegate?.[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

/** Returns the examples of the SDK's README that call a service, in their order. */
async function readmeExamples(): Promise<string[]> {
  const readme = await readFile(path.join(sdkFolder, 'README.md'), 'utf8')
  const blocks = [...readme.matchAll(/```(?:javascript|js)\r?\n([\s\S]*?)```/gu)]
  return blocks.map(([, text = '']) => text)
}

/**
 * Runs examples of the SDK in one process, each after the calls of the previous one. The text of an
 * example is not changed, except for the address, the key and an image id, which belong to a service.
 *
 * @returns the replies and failures that the examples printed.
 */
async function runExamples(
  name: string,
  examples: readonly string[],
  imageId = '',
): Promise<string[]> {
  const project = path.join(folder, name)
  await mkdir(path.join(project, 'node_modules'), { recursive: true })
  await symlink(sdkFolder, path.join(project, 'node_modules/compreface-js-sdk'))
  const { hostname, port } = new URL(facegate.url)
  const fill = (text: string) =>
    text
      .replaceAll('"your_key"', JSON.stringify(facegate.key))
      .replaceAll('"http://localhost"', JSON.stringify(`http://${hostname}`))
      .replaceAll('8000', port)
      .replaceAll('79ed78d8-f015-4947-b297-a24306ebbdad', imageId)
  const setup = (await readmeExamples()).find((text) => text.startsWith('import ')) ?? ''
  const [imports = '', ...objects] = fill(setup).split('\n')
  const services = [
    'let detectionService = compreFace.initFaceDetectionService(api_key);',
    'let verificationService = compreFace.initFaceVerificationService(api_key);',
  ]
  // Each example has new objects: the SDK keeps the address of a call for the next one.
  const steps = examples.map((text) =>
    ['async () => {', ...objects, ...services, `{\n${fill(text)}\n}`, '}'].join('\n'),
  )
  const script = `${imports}
const steps = [${steps.join(',\n')}]
process.on('beforeExit', () => {
  if (steps.length > 0) setImmediate(async () => {
    try { await steps.shift()() } catch (error) { console.log('Thrown: ' + error.message) }
  })
})
`
  await writeFile(path.join(project, 'examples.mjs'), script)
  const args = ['--unhandled-rejections=warn', 'examples.mjs']
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: project })
  // The SDK itself prints the addresses of some calls.
  return stdout.split('\n').filter((line) => /^(?:\{|Oops|Thrown)/u.test(line))
}

type ReadmeReply = { readonly result: readonly Readonly<Record<string, object>>[] }

/** Returns the examples that contain all these texts. */
async function examplesWith(...texts: readonly string[]): Promise<string[]> {
  const found = (await readmeExamples()).filter((example) =>
    texts.every((text) => example.includes(text)),
  )
  assert.ok(found.length > 0, texts.join())
  return found
}

test('The recognition, detection and verification examples of the SDK run unchanged', async () => {
  const adding = await examplesWith('faceCollection.add(')
  const added = (await runExamples('add', adding)).find((line) => line.startsWith('{')) ?? ''
  const { image_id: imageId, subject } = JSON.parse(added) as Record<string, string>
  assert.equal(subject, 'Tom')
  const examples = [
    ...(await examplesWith('recognitionService.recognize(')),
    ...(await examplesWith('detectionService.detect(', 'let ')),
    ...(await examplesWith('faceCollection.verify(', 'let ')),
    ...(await examplesWith('verificationService.verify(', 'let ')),
    ...(await examplesWith('faceCollection.list()')),
  ].filter((text) => text.includes('.then('))
  const printed = await runExamples('services', examples, imageId)
  // Without options, this method of the SDK fails before it sends a request.
  const failed = printed.filter((line) => !line.startsWith('{'))
  assert.deepEqual(failed, ["Thrown: Cannot read properties of undefined (reading 'limit')"])
  const replies = printed.slice(1).map((line) => JSON.parse(line) as ReadmeReply)
  const withoutOptions = examples.filter((example) => example.includes('recognize(path_to_image)'))
  assert.equal(replies.length, examples.length - withoutOptions.length, printed.join('\n'))
  const withPlugins = JSON.stringify(replies[0]?.result[0])
  for (const field of ['age', 'gender', 'landmarks', 'box', 'subjects', 'execution_time'])
    assert.ok(withPlugins.includes(`"${field}":`), field)
  assert.ok(!withPlugins.includes('embedding'), 'a template is never returned')
})

test('The subject examples of the SDK run unchanged, and a rename merges', async () => {
  const examples = await examplesWith('recognitionService.getSubjects()', 'subjects.')
  const calls = examples.join('\n')
  for (const name of ['add', 'list', 'rename', 'delete', 'deleteAll'])
    assert.ok(calls.includes(`subjects.${name}(`), name)
  // The examples do not wait for their calls: each may overtake another one of the same example.
  assert.deepEqual(await runExamples('subjects', examples), [])
  const renamed = `
let fresh = () => recognitionService.getSubjects();
await fresh().add("John"); await fresh().add("Jane");
console.log(JSON.stringify(await fresh().rename("John", "Jane")));
console.log(JSON.stringify(await fresh().list()));`
  const lines = await runExamples('rename', ['await subjects.deleteAll();', renamed])
  assert.deepEqual(lines, ['{"updated":true}', '{"subjects":["Jane"]}'])
})

type SendByAxios = (request: object) => Promise<{
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly data: any
}>
type MultipartForm = {
  readonly append: (name: string, stream: object) => void
  readonly getHeaders: () => Readonly<Record<string, string>>
}

/** Sends a form as cameras do: a stream of a file, without its length, and any status is accepted. */
async function postFile(target: string, file: string, params: object) {
  const axios = sdkRequire('axios') as SendByAxios
  const form = new (sdkRequire('form-data') as new () => MultipartForm)()
  form.append('file', createReadStream(path.resolve(folder, 'images', file)))
  return axios({
    method: 'post',
    url: `${facegate.url}${target}`,
    timeout: 30_000,
    headers: { ...form.getHeaders(), 'x-api-key': facegate.key },
    params,
    data: form,
    validateStatus: () => true,
  })
}

test('A client with axios, a form and the plugins mask, gender and age enrolls and recognizes', async () => {
  const { value } = createGalleryClient(facegate)
  const trained = await postFile('/api/v1/recognition/faces', 'boy.jpg', { subject: 'Mia Ü' })
  assert.deepEqual([trained.status, trained.data.subject], [201, 'Mia Ü'])
  const recognized = await postFile(
    '/api/v1/recognition/recognize?face_plugins=mask,gender,age',
    'team.jpg',
    { det_prob_threshold: 0.8, limit: 0, prediction_count: 3 },
  )
  assert.equal(recognized.status, 200, JSON.stringify(recognized.data))
  assert.equal(recognized.headers['x-unsupported-plugins'], 'mask')
  const { result } = recognized.data
  assert.equal(result.length, 4, 'every face of the photograph is returned')
  for (const { box, age, gender, mask } of result) {
    assert.ok(box.probability >= 0.8 && box.probability <= 1)
    assert.ok(age.high > age.low && gender.value && mask === undefined)
  }
  // oxlint-disable-next-line typescript/no-explicit-any
  const matched = result.filter((face: any) => face.subjects[0]?.subject === 'Mia Ü')
  assert.equal(matched.length, 1)
  assert.ok(matched[0].subjects[0].similarity > 0.9)
  const limited = await postFile('/api/v1/recognition/recognize', 'team.jpg', { limit: 2 })
  assert.equal(limited.data.result.length, 2)
  const wall = { create: { width: 300, height: 300, channels: 3, background: '#888' } } as const
  await sharp(wall).jpeg().toFile(path.join(folder, 'images/wall.jpg'))
  const none = await postFile('/api/v1/recognition/recognize', 'wall.jpg', {})
  assert.deepEqual([none.status, none.data.code], [400, 28])
  const { faces } = await value('svc.detect', {
    images: [
      {
        kind: 'image',
        contentType: 'image/jpeg',
        bytes: (await samplePhotograph(6)).bytes.toString('base64'),
      },
    ],
  })
  assert.equal(faces.length, 4)
})

const pressPictures = path.join(evalDataFolder, 'verification/images')

test(
  'Press photographs keep their face at the threshold 0.8',
  { skip: !existsSync(pressPictures) && 'eval-data is missing' },
  async (t) => {
    const files = globSync('*/*.jpg', { cwd: pressPictures }).toSorted()
    const sampled = files.filter((_, index) => index % 32 === 0)
    const { run } = facegate
    let belowThreshold = 0
    for (const file of sampled) {
      const picture = path.join(pressPictures, file)
      const params = { det_prob_threshold: 0.8, limit: 1 }
      const { status, data } = await postFile('/api/v1/detection/detect', picture, params)
      assert.equal(status, 200, `${file}: ${JSON.stringify(data)}`)
      assert.ok(data.result[0].box.probability >= 0.8, file)
      const image = { bytes: await readFile(picture), contentType: 'image/jpeg' }
      const { body } = await run('svc.detect', image, { maxFaces: 1 })
      if (body.data.results[0].value.faces[0].confidence < 0.8) belowThreshold++
    }
    t.diagnostic(`${sampled.length} pictures, ${belowThreshold} with a confidence below 0.8`)
    assert.ok(belowThreshold > 0, 'some would be lost without the scale of the probability')
  },
)
