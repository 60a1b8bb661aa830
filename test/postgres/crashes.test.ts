import { runOnPostgres } from '../support/database/engine.ts'

runOnPostgres(['gate/crash', 'liveness/crash'])
