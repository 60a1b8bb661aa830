/** A parsed Dockerfile instruction, such as `COPY --from=console /app/web/dist web/dist`. */
export type DockerInstruction = {
  readonly name: string
  readonly options: Readonly<Record<string, string>>
  /** The text after the options, with continued lines joined. */
  readonly text: string
}

/** A `FROM` instruction and the instructions after it. */
export type BuildStage = {
  readonly image: string
  readonly name: string | undefined
  readonly instructions: readonly DockerInstruction[]
}

/** Parses the part of the format that the Dockerfile of this project uses. */
export function parseDockerfile(source: string): readonly BuildStage[] {
  const lines = source
    .replaceAll(/^#.*\n/gmu, '')
    .replaceAll(/\\\n\s*/gu, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
  const stages: { image: string; name: string | undefined; instructions: DockerInstruction[] }[] =
    []
  for (const instruction of lines.map(parseInstruction)) {
    if (instruction.name === 'FROM') {
      const [image = '', , name] = instruction.text.split(/\s+/u)
      stages.push({ image, name, instructions: [] })
    } else stages.at(-1)?.instructions.push(instruction)
  }
  return stages
}

function parseInstruction(line: string): DockerInstruction {
  const [, name = '', options = '', text = ''] =
    /^([A-Z]+)\s+((?:--\S+\s+)*)(.*)$/u.exec(line.trim()) ?? []
  const pairs = [...options.matchAll(/--([a-z-]+)=(\S+)/gu)]
  return {
    name,
    options: Object.fromEntries(pairs.map(([, option = '', value = '']) => [option, value])),
    text,
  }
}

/** Returns the arguments of `CMD ["node", "x"]`, `HEALTHCHECK … CMD […]` and `ENTRYPOINT […]`. */
export function commandArgumentsOf(instruction: DockerInstruction | undefined): readonly string[] {
  const list = /\[.*\]$/u.exec(instruction?.text ?? '')?.[0]
  if (list === undefined)
    throw new Error(`${instruction?.name} ${instruction?.text} has no argument list`)
  // Docker accepts only a list of strings here.
  return JSON.parse(list) as string[]
}

/** Returns the variables that `ENV A=1 B=2` instructions set. */
export function environmentVariablesOf(
  instructions: readonly DockerInstruction[],
): Readonly<Record<string, string>> {
  const pairs = instructions
    .filter(({ name }) => name === 'ENV')
    .flatMap(({ text }) => [...text.matchAll(/(\w+)=(\S*)/gu)])
  return Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, value]))
}
