/** The number of newest Electron majors that get security fixes. */
const SUPPORTED_MAJORS = 3

const VERSION = /^(\d+)\.(\d+)\.(\d+)$/

/**
 * Why a version of Electron must not be shipped, or null. It must not if it lacks fixes of its major, or if
 * its major no longer gets any. `published` lists the registry's versions; pre-releases are ignored.
 */
export function findElectronProblem(shipped: string, published: readonly string[]): string | null {
  const parse = (version: string) => VERSION.exec(version)?.slice(1).map(Number) ?? null
  const own = parse(shipped)
  if (own === null) return `${shipped} is not a finished version`
  const [major = 0] = own
  const others = published.map(parse).filter((version) => version !== null)
  const newestMajor = Math.max(major, ...others.map(([first = 0]) => first))
  if (newestMajor - major >= SUPPORTED_MAJORS) {
    return `Electron ${major} gets no fixes any more: the newest is ${newestMajor}, and ${SUPPORTED_MAJORS} majors are supported`
  }
  const isNewer = (version: readonly number[]) => {
    const at = version.findIndex((part, index) => part !== own[index])
    return at > 0 && (version[at] ?? 0) > (own[at] ?? 0)
  }
  const newer = others.filter(isNewer).map((version) => version.join('.'))
  return newer.length === 0 ? null : `Electron ${shipped} lacks fixes of ${newer.at(-1)}`
}
