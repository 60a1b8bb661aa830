import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { runTool } from './tools.ts'

/** The npm packages with the programs of Node for this machine. */
const nodePackage = `node-${process.platform}-${process.arch}`

/** Installs a version of Node into a folder. Returns the folder of its programs. */
export async function installNode(folder: string, version: string): Promise<string> {
  await installPackage(folder, `${nodePackage}@${version}`)
  return path.join(folder, 'node_modules', nodePackage, 'bin')
}

/** Installs a version of npm into a folder. Returns its main module. */
export async function installNpm(folder: string, version: string): Promise<string> {
  await installPackage(folder, `npm@${version}`)
  return path.join(folder, 'node_modules/npm/bin/npm-cli.js')
}

async function installPackage(folder: string, name: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  await writeFile(path.join(folder, 'package.json'), '{}')
  const options = ['--no-fund', '--no-audit', '--ignore-scripts']
  await runTool('npm', ['install', ...options, name], { cwd: folder, env: environmentOfUser() })
}

/**
 * The environment of a user: without the settings that `npm test` passes to its programs, and without
 * the npm settings of this machine, except the registry and its certificates.
 */
export function environmentOfUser(nodeFolder?: string): Record<string, string> {
  const { PATH = '', ...inherited } = process.env
  const kept = Object.entries(inherited).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !/^(?:npm_|NODE_|INIT_CWD|TEST_)/iu.test(entry[0]),
  )
  const folders = PATH.split(path.delimiter).filter((each) => !each.includes('node_modules'))
  const { NODE_EXTRA_CA_CERTS: certificates, npm_config_registry: registry } = process.env
  return {
    ...Object.fromEntries(kept),
    PATH: [...(nodeFolder === undefined ? [] : [nodeFolder]), ...folders].join(path.delimiter),
    npm_config_userconfig: '/dev/null',
    ...(certificates !== undefined && { NODE_EXTRA_CA_CERTS: certificates }),
    ...(registry !== undefined && { npm_config_registry: registry }),
  }
}
