import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type { ZodType } from 'zod'
import compreFaceApi from '../../src/compreface/openapi.json' with { type: 'json' }
import { openApiDocument } from '../../src/http/openapi/openapi.ts'
import { mapSequential } from '../../src/lib/account-context.ts'
import { fakeImage } from '../support/gallery/fake-vision.ts'
import { imageParams, startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'
import { keepFilesOnDisk } from '../support/packaging/keep-files-on-disk.ts'

/** The generators, with their lock file. */
const generators = path.join(import.meta.dirname, 'generated-clients')

let folder: string
let gallery: TestGallery
before(async () => {
  keepFilesOnDisk()
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-generated-'))
  for (const file of ['package.json', 'package-lock.json', '.npmrc'])
    await cp(path.join(generators, file), path.join(folder, file))
  await run('npm', ['ci', '--no-audit', '--no-fund'], folder)
  const document = openApiDocument('test', {}, { optionalRoutes: [compreFaceApi] })
  await writeFile(path.join(folder, 'openapi.json'), JSON.stringify(document))
  gallery = await startGallery({ environment: { COMPREFACE_API: 'on' } })
})
after(async () => {
  await gallery?.[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const compilerOptions = {
  strict: true,
  skipLibCheck: false,
  module: 'esnext',
  moduleResolution: 'bundler',
  target: 'es2022',
  lib: ['es2022', 'dom', 'dom.iterable'],
  types: [],
  outDir: 'built',
}

/** The part of a program that is the same for every generator. No parameter with a default is set. */
const setup = (imports: string) => `${imports}
declare const process: { readonly argv: readonly string[] }
const [, , baseUrl = '', key = '', bytes = ''] = process.argv
const image = { kind: 'image' as const, bytes, contentType: 'image/jpeg' as const }
const body = { action: 'svc.detect' as const, params: { images: [image] } }
`

/** How each client is generated, and a program that makes a call with it. */
const clients = {
  'openapi-typescript with openapi-fetch': {
    generate: ['openapi-typescript', 'openapi.json', '-o', 'client/schema.ts'],
    program: `${setup(`import createClient from 'openapi-fetch'
import type { paths } from './schema'`)}
const client = createClient<paths>({ baseUrl, headers: { 'X-Api-Key': key } })
const { data } = await client.POST('/v1/face/execute', { body })
if (!data?.ok || data.action !== 'svc.detect') throw new Error(JSON.stringify(data))
const [result] = data.data.results
if (result?.ok) console.log(result.value.faceCount)
// @ts-expect-error the type of a parameter is checked
void client.POST('/v1/face/execute', { body: { ...body, params: { ...body.params, maxFaces: 'x' } } })
const found = await client.POST('/api/v1/detection/detect', { body: { file: bytes } })
console.log(found.data?.result[0]?.box.probability)
`,
  },
  '@hey-api/openapi-ts': {
    generate: ['openapi-ts', '-i', 'openapi.json', '-o', 'client/sdk'],
    program: `${setup(`import { execute } from './sdk/index'
import { client } from './sdk/client.gen'`)}
client.setConfig({ baseUrl, auth: key })
const { data } = await execute({ body })
if (!data?.ok || data.action !== 'svc.detect') throw new Error(JSON.stringify(data))
const [result] = data.data.results
if (result?.ok) console.log(result.value.faceCount)
// @ts-expect-error the type of a parameter is checked
void execute({ body: { ...body, params: { ...body.params, maxFaces: 'x' } } })
`,
  },
  orval: {
    generate: ['orval', '--config', 'orval.config.cjs'],
    program: `${setup(`import { execute } from './api'`)}
const { data } = await execute(body, { headers: { 'X-Api-Key': key } })
if (!('ok' in data) || !data.ok || data.action !== 'svc.detect') throw new Error(JSON.stringify(data))
const [result] = data.data.results
if (result?.ok) console.log(result.value.faceCount)
// @ts-expect-error the type of a parameter is checked
void execute({ ...body, params: { ...body.params, maxFaces: 'x' } })
`,
  },
} as const

for (const [name, { generate, program }] of Object.entries(clients))
  test(`A client of ${name} compiles in strict mode and makes a call`, async () => {
    const project = path.join(folder, name.replaceAll(/\W+/gu, '-'))
    await mkdir(path.join(project, 'client'), { recursive: true })
    await cp(path.join(folder, 'openapi.json'), path.join(project, 'openapi.json'))
    await symlink(path.join(folder, 'node_modules'), path.join(project, 'node_modules'))
    await writeFile(path.join(project, 'package.json'), '{"type":"module"}')
    const output = { target: 'client/api.ts', client: 'fetch', baseUrl: gallery.url }
    const config = { facegate: { input: 'openapi.json', output } }
    await writeFile(
      path.join(project, 'orval.config.cjs'),
      `module.exports = ${JSON.stringify(config)}`,
    )
    const [tool, ...args] = generate
    await runTool(tool, args, project)
    await writeFile(path.join(project, 'client/program.ts'), program)
    await writeFile(
      path.join(project, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, include: ['client'] }),
    )
    await runTool('tsc', ['--project', '.'], project)
    const image = fakeImage('Ada', 'Ben').bytes.toString('base64')
    // The compiled imports have no extension, which bundlers resolve.
    const bundle = path.join(project, 'program.mjs')
    await runTool(
      'esbuild',
      ['built/program.js', '--bundle', '--format=esm', '--platform=node', `--outfile=${bundle}`],
      project,
    )
    const printed = await run(process.execPath, [bundle, gallery.url, gallery.key, image], project)
    assert.equal(printed.split('\n')[0], '2')
    if (program.includes('probability')) assert.equal(printed.split('\n')[1], '0.995')
  })

/** Three generators of validators, and the names that they give to the schemas of responses. */
const validators = {
  '@hey-api/openapi-ts': {
    generate: ['openapi-ts', '-i', 'openapi.json', '-o', 'client', '-p', 'zod'],
    file: 'client/zod.gen.ts',
    nameOf: ({ operation }: ValidatedResponse) => `z${capitalize(operation)}Response`,
  },
  orval: {
    generate: ['orval', '--config', 'orval.config.cjs'],
    file: 'client/zod.ts',
    nameOf: ({ operation }: ValidatedResponse) => `${operation}Response`,
  },
  'typed-openapi': {
    generate: ['typed-openapi', 'openapi.json', '-r', 'zod', '-o', 'client/zod.ts'],
    file: 'client/zod.ts',
    nameOf: ({ component }: ValidatedResponse) => component,
  },
} as const

type ValidatedResponse = {
  readonly operation: string
  readonly component: string
  readonly body: unknown
}

for (const [name, { generate, file, nameOf }] of Object.entries(validators))
  test(`The validators of ${name} accept fields and codes of a later version`, async () => {
    const project = path.join(folder, `validators-${name.replaceAll(/\W+/gu, '-')}`)
    await mkdir(path.join(project, 'client'), { recursive: true })
    await cp(path.join(folder, 'openapi.json'), path.join(project, 'openapi.json'))
    await symlink(path.join(folder, 'node_modules'), path.join(project, 'node_modules'))
    await writeFile(path.join(project, 'package.json'), '{"type":"module"}')
    const config = { input: 'openapi.json', output: { target: 'client/zod.ts', client: 'zod' } }
    await writeFile(
      path.join(project, 'orval.config.cjs'),
      `module.exports = ${JSON.stringify({ facegate: config })}`,
    )
    const [tool, ...args] = generate
    await runTool(tool, args, project)
    const bundle = path.join(project, 'validators.mjs')
    await runTool(
      'esbuild',
      [file, '--bundle', '--format=esm', '--platform=node', `--outfile=${bundle}`],
      project,
    )
    const schemas = (await import(pathToFileURL(bundle).href)) as Readonly<Record<string, ZodType>>
    for (const response of await realResponses()) {
      const schema = schemas[nameOf(response)]
      assert.ok(schema, `${name} has no validator ${nameOf(response)}`)
      for (const body of [response.body, ofLaterVersion(response.body)]) {
        const { success, error } = schema.safeParse(body)
        assert.ok(success, `${nameOf(response)}: ${String(error)}\n${JSON.stringify(body)}`)
      }
      const { ok: _ok, items: _items, subjectId: _subjectId, ...others } = Object(response.body)
      assert.ok(!schema.safeParse(others).success, `${nameOf(response)} accepts anything`)
    }
  })

/** Returns real responses: a success of each action, a failure, a failed image and the routes. */
async function realResponses(): Promise<readonly ValidatedResponse[]> {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const image = imageParams('Ada')
  const blank = imageParams()
  const enrolled = await client.value('svc.enroll', { ...image, externalId: 'ada', groups: ['a'] })
  const { subjectId } = enrolled
  const images = [image, blank].flatMap((one) => (one as { readonly images: object[] }).images)
  const routes = [
    ['listSubjects', 'SubjectPage', '/v1/subjects?include=faces&total=true'],
    ['getSubject', 'Subject', `/v1/subjects/${subjectId}`],
    ['listGroups', 'GroupPage', '/v1/groups'],
  ] as const
  const ofRoutes = await Promise.all(
    routes.map(async ([operation, component, url]) => {
      return { operation, component, body: (await client.rest('GET', url)).body }
    }),
  )
  const calls = [
    ['svc.detect', image],
    ['svc.analyze', { ...image, features: ['quality', 'liveness'] }],
    ['svc.attributes', image],
    ['svc.liveness', image],
    ['svc.identify', { images }],
    ['svc.verify', { ...image, subjectId }],
    ['svc.updateSubject', { subjectId, displayName: 'Ada' }],
    ['svc.detect', {}],
    ['svc.deleteSubject', { subjectId }],
  ] as const
  const ofCalls = await mapSequential(calls, async ([action, params]) => {
    const { body } = await client.call(action, params)
    return { operation: 'execute', component: 'Response', body: body as unknown }
  })
  return [...ofRoutes, ...ofCalls]
}

/** The fields whose values have names that are data. */
const records = new Set(['scores', 'timingsMs'])

/** Adds a field to each object of a response, and a code to each of its codes. */
function ofLaterVersion(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => ofLaterVersion(item))
    return name === 'reasons' ? [...items, 'REASON_OF_A_LATER_VERSION'] : items
  }
  if (typeof value !== 'object' || value === null) return value
  if (records.has(name)) return value
  const fields = Object.entries(value).map(([key, inner]) => [
    key,
    key === 'code' ? 'CODE_OF_A_LATER_VERSION' : ofLaterVersion(inner, key),
  ])
  return { ...Object.fromEntries(fields), fieldOfALaterVersion: 'x' }
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function runTool(tool: string, args: readonly string[], cwd: string): Promise<string> {
  const file = path.join(folder, 'node_modules', '.bin', tool)
  return run(file, args, cwd)
}

/** @throws Error with the output of the program. */
async function run(file: string, args: readonly string[], cwd: string): Promise<string> {
  try {
    return (await promisify(execFile)(file, args, { cwd, maxBuffer: 1e8 })).stdout
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { readonly stdout?: string; stderr?: string }
    throw new Error(`${file} failed:\n${stdout}\n${stderr}`, { cause: error })
  }
}
