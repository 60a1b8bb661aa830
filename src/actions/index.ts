export { detect } from './detect.ts'
