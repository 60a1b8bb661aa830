import { runArea } from '../support/areas.ts'

runArea('liveness')
