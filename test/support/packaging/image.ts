import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { z } from 'zod'
import { environmentOfUser } from './node-versions.ts'
import { missingToolsReason, runTool } from './tools.ts'

/** The image that the Dockerfile builds on. It cannot be pulled where there is no image registry. */
const baseName = 'docker.io/library/node:24-bookworm-slim'
const imageName = 'localhost/facegate'
/** The folder in the base in which npm keeps what it has loaded. */
const imageNpmCache = '/var/cache/npm'
const certificates = '/etc/ssl/certs/ca-certificates.crt'

/** The reason why no image can be built on this machine; undefined: it can. */
export const imageSkipReason: string | undefined =
  process.getuid?.() === 0
    ? (missingToolsReason(['buildah', 'mmdebstrap', 'unshare', 'setpriv', 'chroot']) ??
      deniedMountReason())
    : 'an image is built and started as root'

/** Returns the reason if root may not mount here, for example in a container without privileges. */
export function deniedMountReason(): string | undefined {
  const probe = ['--mount', 'sh', '-c', 'mount -t tmpfs none /mnt']
  return spawnSync('unshare', probe).status === 0 ? undefined : 'this machine permits no mounts'
}

const imageConfig = z.object({
  User: z.string(),
  Env: z.array(z.string()),
  Cmd: z.array(z.string()),
  Entrypoint: z.array(z.string()),
  WorkingDir: z.string(),
  Volumes: z.record(z.string(), z.object({})),
  Healthcheck: z.object({ Test: z.array(z.string()) }),
})

/** An image whose files are mounted. */
export type BuiltImage = AsyncDisposable & {
  /** The root folder of the files. */
  readonly root: string
  readonly config: z.infer<typeof imageConfig>
}

/**
 * Builds the image from the Dockerfile, in the format of Docker. The base consists of the Debian
 * packages and of the Node and the npm of the npm registry, as the official image does.
 *
 * @param context the files of a clean checkout.
 */
export async function buildImage(context: string): Promise<BuiltImage> {
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-image-'))
  const buildah = async (...args: readonly string[]): Promise<string> => {
    const storage = ['--root', path.join(folder, 'store'), '--runroot', path.join(folder, 'run')]
    const env = { ...environmentOfUser(), BUILDAH_ISOLATION: 'chroot' }
    return (await runTool('buildah', [...storage, ...args], { env })).stdout.trim()
  }
  const close = async (): Promise<void> => {
    await buildah('rm', '--all')
    await buildah('rmi', '--all', '--force')
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await buildBase(buildah)
    const dockerfile = path.join(context, 'deploy/Dockerfile')
    const options = ['--format', 'docker', '--pull-never', '--jobs', '2', '--file', dockerfile]
    // The packages that this machine has loaded already are not loaded again.
    const cache = ['--volume', `${await npmCache()}:${imageNpmCache}`]
    await buildah('build', ...options, ...cache, '--tag', imageName, context)
    const inspected: unknown = JSON.parse(await buildah('inspect', '--type', 'image', imageName))
    const config = z.object({ Docker: z.object({ config: imageConfig }) }).parse(inspected)
    const container = await buildah('from', '--pull-never', imageName)
    const root = await buildah('mount', container)
    return { root, config: config.Docker.config, [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Creates the base with Debian 12, Node 24, npm and the user `node`, and tags it with its name. */
async function buildBase(buildah: (...args: readonly string[]) => Promise<string>): Promise<void> {
  const container = await buildah('from', 'scratch')
  const root = await buildah('mount', container)
  await runTool('mmdebstrap', ['--variant=minbase', '--quiet', 'bookworm', root])
  await copyFile(process.execPath, path.join(root, 'usr/local/bin/node'))
  const prefix = path.join(root, 'usr/local')
  const options = ['--no-fund', '--no-audit', '--global', '--prefix', prefix]
  await runTool('npm', ['install', ...options, 'npm@11'], { env: environmentOfUser() })
  await mkdir(path.join(prefix, 'etc'), { recursive: true })
  await writeFile(path.join(prefix, 'etc/npmrc'), `cache=${imageNpmCache}\n`)
  await runTool('chroot', [root, 'useradd', '--uid', '1000', '--create-home', 'node'])
  // The installation in the image accepts the certificates that this machine accepts.
  if (existsSync(certificates)) {
    mkdirSync(path.join(root, path.dirname(certificates)), { recursive: true })
    await copyFile(certificates, path.join(root, certificates))
    await buildah('config', '--env', `NODE_EXTRA_CA_CERTS=${certificates}`, container)
  }
  await buildah('commit', '--quiet', '--format', 'docker', '--rm', container, baseName)
}

async function npmCache(): Promise<string> {
  const { stdout } = await runTool('npm', ['config', 'get', 'cache'], { env: environmentOfUser() })
  return stdout.trim()
}
