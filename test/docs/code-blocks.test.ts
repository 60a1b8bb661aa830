import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { pageFiles, rootDir } from '../../docs/build/contents.ts'
import { parseOutline, type CodeBlock } from '../../docs/build/page-outline.ts'
import { spawnFacegate, type FacegateProcess } from '../support/facegate/spawn-facegate.ts'
import { readerEnvironment, createClone } from '../support/docs/reader-environment.ts'
import { runBlocks } from '../support/docs/shell-blocks.ts'
import {
  committedImagePath,
  meanDifference,
  drawTutorialImages,
} from '../support/docs/tutorial-images.ts'
import { outputDir } from '../support/paths.ts'

/** Blocks of these are proved, `text` is for drawings; others must say why they are not run. */
const languages = ['sh', 'json', 'ts', 'text']

let clone: string
let facegate: FacegateProcess

const total = { ran: 0, marked: 0 }

before(async () => {
  clone = await createClone()
  facegate = await spawnFacegate({ VISION_WORKERS: '1' })
})
after(async () => {
  await facegate?.[Symbol.asyncDispose]()
  await rm(clone, { recursive: true, force: true })
})

// The pages share one service and are read in the order of the contents.
for (const file of pageFiles)
  test(`the blocks of ${file} do what they say`, async (t) => {
    const { blocks } = parseOutline(await readFile(path.join(rootDir, file), 'utf8'))
    const marked = blocks.filter(isMarked)
    for (const { attributes: marks, text } of marked)
      assert.ok(marks['not-run'], `say why not:\n${text}`)
    const proved = blocks.filter((one) => !isMarked(one))
    for (const { language, text } of proved) {
      assert.ok(languages.includes(language), `a block is none of ${languages.join()}:\n${text}`)
      if (language === 'json') assert.doesNotThrow(() => void JSON.parse(text), text)
    }
    const shell = proved.filter(({ language }) => language === 'sh')
    const { runCount: ran, failures: faults } = await runBlocks(shell, {
      cwd: clone,
      env: readerEnvironment(clone, facegate),
      url: facegate.url,
    })
    assert.deepEqual(faults, [])
    total.ran += ran
    total.marked += marked.length
    t.diagnostic(`${ran} shell blocks ran, ${marked.length} blocks are marked as not to be run`)
  })

test('every block ran, or says why it did not', (t) => {
  t.diagnostic(`${total.ran} shell blocks ran, ${total.marked} blocks are marked as not to be run`)
})

test('a block that fails, or says something else than the page, is found', async () => {
  const faultsOf = async (page: string): Promise<readonly string[]> => {
    const { blocks } = parseOutline(page)
    return (
      await runBlocks(blocks, {
        cwd: clone,
        env: readerEnvironment(clone, facegate),
        url: facegate.url,
      })
    ).failures
  }
  const refused = `echo '{ "ok": false, "errors": [{ "code": "NO_FACE_FOUND" }] }'`
  assert.match((await faultsOf(block('sh', 'true; false'))).join(), /did not run/u)
  assert.match((await faultsOf(block('sh', 'npx something-else'))).join(), /did not run/u)
  assert.match((await faultsOf(block('sh', refused))).join(), /answered with an error/u)
  assert.match((await faultsOf(block('sh answers="LOW_QUALITY"', refused))).join(), /is not LOW/u)
  assert.match((await faultsOf(block('sh says="two"', 'echo one'))).join(), /does not say two/u)
  assert.deepEqual(await faultsOf(block('sh answers="NO_FACE_FOUND"', refused)), [])
})

test('the TypeScript of the pages compiles', async () => {
  const folder = path.join(clone, 'typescript')
  await mkdir(folder)
  for (const [at, file] of pageFiles.entries()) {
    const { blocks } = parseOutline(await readFile(path.join(rootDir, file), 'utf8'))
    const texts = blocks.filter(({ language }) => language === 'ts').map(({ text }) => text)
    if (texts.length > 0)
      await writeFile(path.join(folder, `page${at}.ts`), `${texts.join('\n')}\nexport {}\n`)
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

test('the pictures of the tutorial show what the service answers', async () => {
  const fresh = path.join(outputDir, 'pictures')
  await mkdir(fresh, { recursive: true })
  const drawn = Object.entries(await drawTutorialImages(facegate))
  for (const [name, bytes] of drawn) await writeFile(path.join(fresh, name), bytes)
  for (const [name, bytes] of drawn) {
    const committed = await readFile(committedImagePath(name))
    const difference = await meanDifference(bytes, committed)
    assert.ok(
      difference < 3,
      `${name} is old by ${difference}: copy test/output/pictures to docs/pictures`,
    )
  }
})

const block = (fence: string, text: string): string => `\`\`\`${fence}\n${text}\n\`\`\`\n`

const isMarked = ({ attributes: marks }: CodeBlock): boolean => marks['not-run'] !== undefined
