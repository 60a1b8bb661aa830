import assert from 'node:assert/strict'
import { copyFile, mkdir, mkdtemp, readdir, readlink, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { keepFilesOnDisk } from '../support/packaging/keep-files-on-disk.ts'
import { environmentOfUser, installNode, installNpm } from '../support/packaging/node-versions.ts'
import { runTool } from '../support/packaging/tools.ts'
import { rootDir } from '../support/paths.ts'

/** The versions of a user's machine. */
const nodeVersions = ['20.19.0', '22.18.0', '24']
const npmVersions = ['10.8.2', '11']

let folder: string
let nodeFolders: Map<string, string>
let npmModules: Map<string, string>
before(async () => {
  keepFilesOnDisk()
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-npm-'))
  nodeFolders = await installEach('node', nodeVersions, installNode)
  npmModules = await installEach('npm', npmVersions, installNpm)
})
after(() => rm(folder, { recursive: true, force: true }))

async function installEach(
  name: string,
  versions: readonly string[],
  install: typeof installNode,
): Promise<Map<string, string>> {
  const installed = new Map<string, string>()
  for (const version of versions)
    installed.set(version, await install(path.join(folder, `${name}-${version}`), version))
  return installed
}

/** Runs npm without writing files. It resolves and checks all packages and prints all warnings. */
function dryRun(
  { node, npm, cwd }: { readonly node: string; readonly npm: string; readonly cwd: string },
  args: readonly string[],
  settings: Readonly<Record<string, string>> = {},
) {
  const env = { ...environmentOfUser(nodeFolders.get(node)), ...settings }
  return runTool('node', [npmModules.get(npm) ?? '', ...args, '--dry-run'], { cwd, env })
}

/** Copies the files that npm reads, and the script that it runs. */
async function copyProject(project: string, target: string): Promise<void> {
  const files = ['package.json', 'package-lock.json', '.npmrc']
  if (project === '.') files.push('deploy/package/link-node.js')
  for (const file of files) {
    await mkdir(path.dirname(path.join(target, file)), { recursive: true })
    await copyFile(path.join(rootDir, project, file), path.join(target, file))
  }
}

for (const project of ['.', 'bench/peers'])
  for (const node of nodeVersions)
    for (const npm of npmVersions)
      test(`npm ci in ${project} prints no warning with npm ${npm} on Node ${node}`, async () => {
        const cwd = path.join(folder, 'clone', project)
        await copyProject(project, cwd)
        const { stdout, stderr } = await dryRun({ node, npm, cwd }, ['ci'])
        assert.match(stdout, /add/u)
        assert.equal(stderr, '')
      })

for (const [npm, cpu] of [
  ['10.8.2', process.arch],
  ['11', process.arch],
  ['10.8.2', 'arm64'],
] as const)
  test(`npm ci with npm ${npm} links the locked Node for ${cpu}, and installs no compiler`, async () => {
    const cwd = path.join(folder, `installed-${npm}-${cpu}`)
    await copyProject('.', cwd)
    const env = environmentOfUser(nodeFolders.get('20.19.0'))
    const args = ['ci', '--omit=dev', `--cpu=${cpu}`]
    const { stderr } = await runTool('node', [npmModules.get(npm) ?? '', ...args], { cwd, env })
    assert.equal(stderr, '')
    const modules = path.join(cwd, 'node_modules')
    const link = await readlink(path.join(modules, '.bin/node'))
    assert.equal(link, `../node-${process.platform}-${cpu}/bin/node`)
    const names = await readdir(modules)
    for (const name of ['cmake-js', 'node-addon-api', 'pkg-prebuilds', 'node'])
      assert.ok(!names.includes(name), name)
    if (cpu !== process.arch) return
    const { stdout } = await runTool(path.join(modules, '.bin/node'), ['--version'])
    assert.match(stdout, /^v24\./u)
  })

test('The check of warnings finds an engine that does not match and a setting that npm lacks', async () => {
  const cwd = path.join(folder, 'clone')
  const versions = { node: '20.19.0', npm: '11', cwd }
  const setting = { npm_config_no_such_setting: '1' }
  const { stderr } = await dryRun(versions, ['install', 'cookie@2.0.2'], setting)
  assert.match(stderr, /EBADENGINE/u)
  assert.match(stderr, /Unknown env config/u)
})
