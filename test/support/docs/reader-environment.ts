import { chmod, mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import sharp from 'sharp'
import { rootDir } from '../../../docs/build/contents.ts'
import { readSamplePictures } from '../../../docs/build/sample-pictures.ts'
import { installExamples } from '../facegate/install-examples.ts'
import type { FacegateProcess } from '../facegate/spawn-facegate.ts'
import { outputDir } from '../paths.ts'

/** Creates a folder like the clone of a reader, with the pictures that the pages use. */
export async function createClone(): Promise<string> {
  const clone = await mkdtemp(path.join(tmpdir(), 'facegate-clone-'))
  for (const name of ['node_modules', 'docs', 'client', 'clients', 'package.json'])
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

/** Writes the sample pictures, a copy of the portrait and an image without a face. */
async function writeImages(clone: string): Promise<void> {
  const samples = await readSamplePictures()
  const portrait = samples.get('mia.jpg') ?? Buffer.alloc(0)
  for (const [name, bytes] of [...samples, ['photo.jpg', portrait] as const])
    await writeFile(path.join(clone, name), bytes)
  const grey = { width: 300, height: 300, channels: 3, background: '#888' } as const
  await sharp({ create: grey }).jpeg().toFile(path.join(clone, 'wall.jpg'))
}
