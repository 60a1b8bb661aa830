/** Runs all tests. Further arguments go to the test runner of Node. */
import { spawnSync } from 'node:child_process'
import { buildConsole } from '../web/build.ts'
import { allTestFiles } from './support/areas.ts'
import { rootDir } from './support/paths.ts'

// Built once for all files. The tests of the console report why a build failed.
await buildConsole().catch(() => undefined)

// The tests wait for a part of their time: four files at a time keep two cores busy.
const options = ['--test-concurrency=4', '--test-global-setup=test/global-setup.ts']
const { status } = spawnSync(
  process.execPath,
  ['--test', ...options, ...process.argv.slice(2), ...allTestFiles()],
  { cwd: rootDir, stdio: 'inherit' },
)
process.exit(status ?? 1)
