import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { pageFiles, rootDir } from '../../docs/build/contents.ts'
import { parseOutline, type CodeBlock } from '../../docs/build/page-outline.ts'
import { buildConsole } from '../../web/build.ts'
import { spawnFacegate, type FacegateProcess } from '../support/facegate/spawn-facegate.ts'
import { readerEnvironment, createClone } from '../support/docs/reader-environment.ts'
import { interpreterSkipReason, runBlocks, shellLanguages } from '../support/docs/shell-blocks.ts'
import {
  committedImagePath,
  meanDifference,
  drawTutorialImages,
} from '../support/docs/tutorial-images.ts'
import { outputDir } from '../support/paths.ts'

/** Blocks in these languages are tested; `text` is for diagrams. Others need a `skip` reason. */
const languages = [...shellLanguages, 'json', 'ts', 'text']

/** Why the blocks of each language cannot run here. */
const skipReasons = new Map(
  shellLanguages.map((language) => [language, interpreterSkipReason(language)]),
)
const reasonNotToRun = (language: string): string | undefined => skipReasons.get(language)

let clone: string
let facegate: FacegateProcess

const total = { ran: 0, skipped: 0 }

before(async () => {
  // The service serves the sample pictures from the built site.
  await buildConsole()
  clone = await createClone()
  facegate = await spawnFacegate({ VISION_WORKERS: '1', BINARY_BODIES: 'on' })
})
after(async () => {
  await facegate?.[Symbol.asyncDispose]()
  await rm(clone, { recursive: true, force: true })
})

// The pages share one service and run in the order of the contents.
for (const file of pageFiles)
  test(`The code blocks of ${file} run with the documented results`, async (t) => {
    const { blocks } = parseOutline(await readFile(path.join(rootDir, file), 'utf8'))
    const skipped = blocks.filter(isSkipped)
    for (const { attributes, text } of skipped)
      assert.ok(attributes['skip'], `the skip reason is empty:\n${text}`)
    const tested = blocks.filter((block) => !isSkipped(block))
    for (const { language, text } of tested) {
      assert.ok(
        languages.includes(language),
        `the language is none of ${languages.join()}:\n${text}`,
      )
      if (language === 'json') assert.doesNotThrow(() => void JSON.parse(text), text)
    }
    const shell = tested.filter(
      ({ language }) => shellLanguages.includes(language) && !reasonNotToRun(language),
    )
    for (const language of new Set(tested.map((block) => block.language)))
      if (reasonNotToRun(language))
        t.diagnostic(`NOT RUN: the blocks in ${language}: ${reasonNotToRun(language)}`)
    const { runCount, failures } = await runBlocks(shell, {
      cwd: clone,
      env: readerEnvironment(clone, facegate),
      url: facegate.url,
    })
    assert.deepEqual(failures, [])
    total.ran += runCount
    total.skipped += skipped.length
    t.diagnostic(`${runCount} shell blocks ran, ${skipped.length} blocks were skipped`)
  })

test('The lines of the nightly backup run every night', async () => {
  const page = await readFile(path.join(rootDir, 'docs/operations/deployment.md'), 'utf8')
  const nightly = parseOutline(page).blocks.filter(
    (each) => !isSkipped(each) && each.text.includes('facegate backup'),
  )
  assert.equal(nightly.length, 1)
  // Two nights: the second one must also end with a copy that the current master key decrypts.
  const { failures } = await runBlocks([...nightly, ...nightly], {
    cwd: clone,
    env: readerEnvironment(clone, facegate),
    url: facegate.url,
  })
  assert.deepEqual(failures, [])
})

test('Every code block runs or has a skip reason', (t) => {
  t.diagnostic(`${total.ran} shell blocks ran, ${total.skipped} blocks were skipped`)
})

test('A block that fails or prints an undocumented result is reported', async () => {
  const failuresOf = async (page: string): Promise<readonly string[]> => {
    const { blocks } = parseOutline(page)
    return (
      await runBlocks(blocks, {
        cwd: clone,
        env: readerEnvironment(clone, facegate),
        url: facegate.url,
      })
    ).failures
  }
  const rejected = `echo '{ "ok": false, "errors": [{ "code": "NO_FACE_FOUND" }] }'`
  assert.match((await failuresOf(block('sh', 'true; false'))).join(), /did not run/u)
  assert.match((await failuresOf(block('sh', 'npx something-else'))).join(), /did not run/u)
  assert.match((await failuresOf(block('sh', rejected))).join(), /returned an error/u)
  assert.match(
    (await failuresOf(block('sh error="LOW_QUALITY"', rejected))).join(),
    /did not return LOW/u,
  )
  assert.match(
    (await failuresOf(block('sh prints="two"', 'echo one'))).join(),
    /did not print two/u,
  )
  assert.deepEqual(await failuresOf(block('sh error="NO_FACE_FOUND"', rejected)), [])
  if (reasonNotToRun('python')) return
  assert.match((await failuresOf(block('python', 'raise SystemExit(1)'))).join(), /did not run/u)
  assert.match(
    (await failuresOf(block('python prints="two"', 'print("one")'))).join(),
    /did not print two/u,
  )
})

test('The TypeScript blocks of the pages compile', async () => {
  const folder = path.join(clone, 'typescript')
  await mkdir(folder)
  for (const [index, file] of pageFiles.entries()) {
    const { blocks } = parseOutline(await readFile(path.join(rootDir, file), 'utf8'))
    const texts = blocks.filter(({ language }) => language === 'ts').map(({ text }) => text)
    if (texts.length > 0)
      await writeFile(path.join(folder, `page${index}.ts`), `${texts.join('\n')}\nexport {}\n`)
  }
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: 'esnext',
    module: 'nodenext',
    lib: ['esnext'],
    types: ['node'],
    typeRoots: [path.join(rootDir, 'node_modules', '@types')],
    allowImportingTsExtensions: true,
    paths: { 'facegate-client': [path.join(rootDir, 'client', 'src', 'node.ts')] },
  }
  await writeFile(path.join(folder, 'package.json'), '{"type":"module"}')
  await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
  const tsc = path.join(rootDir, 'node_modules', '.bin', 'tsc')
  const { stdout } = await promisify(execFile)(tsc, ['-p', folder]).catch(
    (error: { readonly stdout: string }) => error,
  )
  assert.equal(stdout, '')
})

test('The pictures of the tutorial show the results of the service', async () => {
  const drawnFolder = path.join(outputDir, 'pictures')
  await mkdir(drawnFolder, { recursive: true })
  const drawn = Object.entries(await drawTutorialImages(facegate))
  for (const [name, bytes] of drawn) await writeFile(path.join(drawnFolder, name), bytes)
  for (const [name, bytes] of drawn) {
    const committed = await readFile(committedImagePath(name))
    const difference = await meanDifference(bytes, committed)
    assert.ok(
      difference < 3,
      `${name} differs by ${difference}: copy test/output/pictures to docs/pictures`,
    )
  }
})

const block = (fence: string, text: string): string => `\`\`\`${fence}\n${text}\n\`\`\`\n`

const isSkipped = ({ attributes }: CodeBlock): boolean => attributes['skip'] !== undefined
