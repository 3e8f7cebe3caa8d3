/** The longest call, in seconds: one whose end was lost is found when it should be over. */
export const MAX_CALL_SECONDS = 10;

/** What the load sets, and the laws hold it to. */
export const limits = { workspaceCalls: 60, trunkChannels: 8, trunkCallsPerSecond: 4 };
