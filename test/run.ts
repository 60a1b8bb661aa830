/** Runs all tests. Further arguments go to the test runner of Node. */
import { spawnSync } from 'node:child_process'
import { prepareBuiltinPack } from '../src/models/builtin/prepare-builtin-pack.ts'
import { allTestFiles } from './support/areas.ts'
import { rootDir, testModelsFolder } from './support/paths.ts'

const inherited = { cwd: rootDir, stdio: 'inherit' } as const

// Built once for all files. The tests of the console report why a build failed.
spawnSync(process.execPath, ['web/build.ts'], inherited)
// In a new clone, four processes would convert the models at the same time.
await prepareBuiltinPack({ folder: testModelsFolder })

// The tests wait for a part of their time: four files at a time keep two cores busy.
const options = ['--test-concurrency=4', '--test-global-setup=test/global-setup.ts']
const { status } = spawnSync(
  process.execPath,
  ['--test', ...options, ...process.argv.slice(2), ...allTestFiles()],
  inherited,
)
process.exit(status ?? 1)
