import { run as bodies } from './bodies.ts'
import { run as calls } from './calls.ts'
import { run as challenge } from './liveness/challenge.ts'
import { run as consoleBench } from './console.ts'
import { run as detect } from './vision/detect.ts'
import { run as disk } from './disk.ts'
import { run as firstHour } from './installation/first-hour.ts'
import { run as logPage } from './console/log-page.ts'
import { run as galleryCheck } from './search/gallery-check.ts'
import { run as gate } from './gate.ts'
import { run as images } from './vision/images.ts'
import { run as memory } from './vision/memory.ts'
import { run as nodes } from './nodes.ts'
import { run as anonymous } from './anonymous.ts'
import { run as overload } from './overload/run-overload.ts'
import { run as search } from './search.ts'
import { run as sets } from './vision/model-sets.ts'
import { run as stages } from './vision/stages.ts'
import { run as subjects } from './subjects.ts'
import { run as telemetry } from './telemetry.ts'
import { run as vectors } from './vectors.ts'
import { run as walk } from './walk.ts'

/** `npm run bench [name]`: one file per benchmark. Without a name it runs all that need no arguments. */
const benches: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  bodies,
  anonymous,
  calls,
  challenge,
  stages,
  detect,
  disk,
  galleryCheck,
  gate,
  images,
  memory,
  nodes,
  overload,
  search,
  sets,
  subjects,
  vectors,
  walk,
  console: consoleBench,
  logPage,
  telemetry,
  'first-hour': firstHour,
}

const [name, ...args] = process.argv.slice(2)
const chosen =
  name === undefined ? Object.values(benches).filter((bench) => bench !== sets) : [benches[name]]
for (const bench of chosen) {
  if (!bench) {
    console.error(`unknown benchmark ${name}; choose one of ${Object.keys(benches).join(', ')}`)
    process.exit(2)
  }
  await bench(args)
}
