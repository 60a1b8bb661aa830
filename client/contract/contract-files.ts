import { contractSource } from './contract-source.ts'
import { pythonContractSource, pythonErrorsSource } from './python-source.ts'

/** The generated files of the clients, from the root of the project, with their texts. */
export const contractFiles: Readonly<Record<string, () => string>> = {
  'client/src/contract.ts': contractSource,
  'clients/python/facegate/contract.py': pythonContractSource,
  'clients/python/facegate/error_codes.py': pythonErrorsSource,
}
