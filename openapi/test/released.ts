/** The last contract that was released. What it promised, the contract of today holds. */
export const RELEASED = '0.2.0';
