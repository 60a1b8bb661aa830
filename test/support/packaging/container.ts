import { spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { BuiltImage } from './image.ts'
import { runTool, type ToolOutput } from './tools.ts'

/** How a process in the image is started. */
export type ContainerOptions = {
  /** Added to the environment of the image. */
  readonly environment?: Readonly<Record<string, string>>
  /** The folder that is mounted as /data. */
  readonly dataFolder: string
  /** Path in the image → file or folder of this machine, read-only. */
  readonly mounts?: Readonly<Record<string, string>>
  /** Host name → address. */
  readonly hosts?: Readonly<Record<string, string>>
}

/**
 * Mounts the files of the image read-only in a mount namespace, with /data and /tmp writable, and runs
 * a command there as the user of the image and without capabilities. It shares the network and the
 * process ids of this machine, and replaces the shell, so that a signal reaches the command.
 */
const script = `
  root=$1 user=$2 folder=$3 data=$4 hosts=$5; shift 5
  mount --bind "$root" "$root"
  mount --rbind /proc "$root/proc"
  mount --rbind /dev "$root/dev"
  mount -t tmpfs tmpfs "$root/tmp"
  mount --bind "$data" "$root/data"
  mount --bind "$hosts" "$root/etc/hosts"
  while [ "$1" != -- ]; do
    mount --bind "$1" "$root/$2"
    mount -o remount,bind,ro "$root/$2"
    shift 2
  done
  shift
  mount -o remount,bind,ro "$root"
  exec setpriv --no-new-privs chroot --userspec="$user" "$root" env -i -C "$folder" "$@"`

/** Starts the command of the image. Its standard output is a pipe. */
export function startContainer(image: BuiltImage, options: ContainerOptions): ChildProcess {
  const command = [...image.config.Entrypoint, ...image.config.Cmd]
  return spawn('unshare', unshareArguments(image, options, command), {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

/** Runs another command in the image. @throws Error if its exit code is not 0. */
export function runInContainer(
  image: BuiltImage,
  options: ContainerOptions,
  command: readonly string[],
): Promise<ToolOutput> {
  return runTool('unshare', unshareArguments(image, options, command))
}

function unshareArguments(
  { root, config }: BuiltImage,
  { environment = {}, dataFolder, mounts = {}, hosts = {} }: ContainerOptions,
  command: readonly string[],
): string[] {
  const hostsFile = `${dataFolder}.hosts`
  writeHostsFile(hostsFile, hosts)
  for (const [target, source] of Object.entries(mounts))
    createMountPoint(path.join(root, target), source)
  const unshare = ['--mount', '--propagation', 'private', 'sh', '-euc', script, 'sh']
  const folders = [root, config.User, config.WorkingDir, dataFolder, hostsFile]
  const pairs = Object.entries(mounts).flatMap(([target, source]) => [source, target])
  // Here the init process of the image does not have the process id 1.
  const variables = [...config.Env, 'TINI_SUBREAPER=1', ...toVariables(environment)]
  return [...unshare, ...folders, ...pairs, '--', ...variables, ...command]
}

function toVariables(environment: Readonly<Record<string, string>>): string[] {
  return Object.entries(environment).map(([name, value]) => `${name}=${value}`)
}

/** Writes a hosts file with this machine and further names. */
export function writeHostsFile(file: string, hosts: Readonly<Record<string, string>>): void {
  const lines = Object.entries({ localhost: '127.0.0.1', ...hosts })
  writeFileSync(file, lines.map(([name, address]) => `${address} ${name}\n`).join(''))
}

/** Docker creates the files and folders on which something is mounted, too. */
function createMountPoint(target: string, source: string): void {
  const isFolder = statSync(source).isDirectory()
  mkdirSync(isFolder ? target : path.dirname(target), { recursive: true })
  if (!isFolder) writeFileSync(target, '', { flag: 'a' })
}
