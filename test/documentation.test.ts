import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import sharp, { type Sharp } from 'sharp'
import { pageFiles, rootDir } from '../docs/build/contents.ts'
import { outlineOf, type CodeBlock } from '../docs/build/markdown.ts'
import { samplePhotograph } from './facegate.ts'
import { spawnFacegate, type SpawnedFacegate } from './process.ts'
import { runBlocks } from './shell-blocks.ts'
import { committedPicture, differenceOf, drawTutorial } from './tutorial-pictures.ts'

/** How the blocks of each language are proved; `text` is for drawings. */
const languages = ['sh', 'json', 'jsonc', 'ts', 'text']

/** A clone as a reader has it, with the pictures that the pages name. */
let clone: string
let facegate: SpawnedFacegate

before(async () => {
  clone = await mkdtemp(path.join(tmpdir(), 'facegate-clone-'))
  for (const name of ['node_modules', 'docs', 'client', 'package.json'])
    await symlink(path.join(rootDir, name), path.join(clone, name))
  await savePictures()
  await saveNpx()
  facegate = await spawnFacegate({ VISION_WORKERS: '1' })
})
after(async () => {
  await facegate?.[Symbol.asyncDispose]()
  await rm(clone, { recursive: true, force: true })
})

// The pages share one service and are read in the order of the contents.
for (const file of pageFiles)
  test(`the blocks of ${file} do what they say`, async (t) => {
    const { blocks } = outlineOf(await readFile(path.join(rootDir, file), 'utf8'))
    for (const { language, text } of blocks)
      assert.ok(
        languages.includes(language),
        `a block is none of ${languages.join(', ')}:\n${text}`,
      )
    const marked = blocks.filter(isMarked)
    for (const { language, text } of blocks.filter((block) => !isMarked(block)))
      if (language.startsWith('json')) assert.doesNotThrow(() => void JSON.parse(text), text)
    const shell = blocks.filter((block) => block.language === 'sh' && !isMarked(block))
    const { ran, faults } = await runBlocks(shell, {
      cwd: clone,
      env: environment(),
      url: facegate.url,
    })
    assert.deepEqual(faults, [])
    t.diagnostic(`${ran} shell blocks ran, ${marked.length} are marked as not to be run`)
  })

test('a block that fails, or says something else than the page, is found', async () => {
  const faultsOf = async (page: string): Promise<readonly string[]> => {
    const { blocks } = outlineOf(page)
    return (await runBlocks(blocks, { cwd: clone, env: environment(), url: facegate.url })).faults
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
    const { blocks } = outlineOf(await readFile(path.join(rootDir, file), 'utf8'))
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
  const fresh = path.join(import.meta.dirname, 'output', 'pictures')
  await mkdir(fresh, { recursive: true })
  const drawn = Object.entries(await drawTutorial(facegate))
  for (const [name, bytes] of drawn) await writeFile(path.join(fresh, name), bytes)
  for (const [name, bytes] of drawn) {
    const committed = await readFile(committedPicture(name))
    const difference = await differenceOf(bytes, committed)
    assert.ok(
      difference < 3,
      `${name} is old by ${difference}: copy test/output/pictures to docs/pictures`,
    )
  }
})

const block = (fence: string, text: string): string => `\`\`\`${fence}\n${text}\n\`\`\`\n`

const isMarked = ({ marks }: CodeBlock): boolean => marks['not-run'] !== undefined

function environment(): Readonly<Record<string, string | undefined>> {
  const { PATH, HOME } = process.env
  const own = [path.join(clone, 'bin'), path.dirname(process.execPath), PATH].join(path.delimiter)
  return {
    PATH: own,
    HOME,
    DATA_DIR: facegate.dataDir,
    KEY: facegate.key,
    FACEGATE_KEY: facegate.key,
    FACEGATE_URL: facegate.url,
    // The command line starts a dozen times: half of that is reading its sources.
    NODE_COMPILE_CACHE: path.join(import.meta.dirname, 'output', 'compiled'),
  }
}

/** `npx facegate` is the command line of this folder; anything else is refused. */
async function saveNpx(): Promise<void> {
  await mkdir(path.join(clone, 'bin'))
  const main = path.join(rootDir, 'src', 'cli', 'main.ts')
  const file = path.join(clone, 'bin', 'npx')
  await writeFile(
    file,
    `#!/bin/sh\n[ "$1" = facegate ] || exit 97\nshift\nexec node '${main}' "$@"\n`,
  )
  await chmod(file, 0o755)
}

/** One person in two pictures of different evenings, several people, and nobody. */
async function savePictures(): Promise<void> {
  const [first, third, sixth] = await Promise.all(([1, 3, 6] as const).map(samplePhotograph))
  const save = (name: string, picture: Sharp) => picture.jpeg().toFile(path.join(clone, name))
  const mia = { left: 950, top: 80, width: 470, height: 560 }
  await save('mia.jpg', sharp(third!.bytes).extract(mia))
  await save('photo.jpg', sharp(third!.bytes).extract(mia))
  await save(
    'door.jpg',
    sharp(first!.bytes).extract({ left: 1400, top: 150, width: 330, height: 360 }),
  )
  await save('group.jpg', sharp(sixth!.bytes))
  await save(
    'other.jpg',
    sharp(sixth!.bytes).extract({ left: 1380, top: 190, width: 448, height: 504 }),
  )
  const grey = { width: 300, height: 300, channels: 3, background: '#888' } as const
  await save('wall.jpg', sharp({ create: grey }))
}
