import { chmod, mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import sharp, { type Sharp } from 'sharp'
import { rootDir } from '../../../docs/build/contents.ts'
import { installExamples } from '../facegate/install-examples.ts'
import { samplePhotograph } from '../facegate/test-facegate.ts'
import type { FacegateProcess } from '../facegate/spawn-facegate.ts'
import { outputDir } from '../paths.ts'

/** Creates a folder like the clone of a reader, with the pictures that the pages use. */
export async function createClone(): Promise<string> {
  const clone = await mkdtemp(path.join(tmpdir(), 'facegate-clone-'))
  for (const name of ['node_modules', 'docs', 'client', 'package.json'])
    await symlink(path.join(rootDir, name), path.join(clone, name))
  await installExamples(path.join(clone, 'examples'))
  await writeImages(clone)
  await writeNpxScript(clone)
  return clone
}

/** Returns the environment variables of the reader's shell. */
export function readerEnvironment(
  clone: string,
  { dataDir, key, url }: FacegateProcess,
): Readonly<Record<string, string | undefined>> {
  const { PATH, HOME } = process.env
  return {
    PATH: [path.join(clone, 'bin'), path.dirname(process.execPath), PATH].join(path.delimiter),
    HOME,
    DATA_DIR: dataDir,
    KEY: key,
    FACEGATE_KEY: key,
    FACEGATE_URL: url,
    PYTHONPATH: path.join(rootDir, 'clients', 'python'),
    PYTHONDONTWRITEBYTECODE: '1',
    // The CLI starts many times, and half of each start is the compilation of its sources.
    NODE_COMPILE_CACHE: path.join(outputDir, 'compiled'),
  }
}

/** `npx facegate` runs the CLI of this checkout. Every other package exits with 97. */
async function writeNpxScript(clone: string): Promise<void> {
  await mkdir(path.join(clone, 'bin'))
  const main = path.join(rootDir, 'src', 'cli', 'main.ts')
  const file = path.join(clone, 'bin', 'npx')
  await writeFile(
    file,
    `#!/bin/sh\n[ "$1" = facegate ] || exit 97\nshift\nexec node '${main}' "$@"\n`,
  )
  await chmod(file, 0o755)
}

/** Writes two pictures of one person, a group, another person and an image without a face. */
async function writeImages(clone: string): Promise<void> {
  const [first, third, sixth] = await Promise.all(([1, 3, 6] as const).map(samplePhotograph))
  const save = (name: string, image: Sharp) => image.jpeg().toFile(path.join(clone, name))
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
