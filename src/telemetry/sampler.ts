import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  type Sampler,
} from '@opentelemetry/sdk-trace'
import type { SamplerName } from './telemetry.ts'

const parentBased = 'parentbased_'

/** The samplers by the names of `OTEL_TRACES_SAMPLER`, which this SDK leaves to the program. */
export function samplerOf(name: SamplerName, ratio: number): Sampler {
  const root = rootSampler(name.replace(parentBased, ''), ratio)
  return name.startsWith(parentBased) ? new ParentBasedSampler({ root }) : root
}

function rootSampler(name: string, ratio: number): Sampler {
  if (name === 'always_on') return new AlwaysOnSampler()
  if (name === 'always_off') return new AlwaysOffSampler()
  return new TraceIdRatioBasedSampler(ratio)
}
